//! Which requests are answered at all, and the headers of every reply.
//!
//! A page from elsewhere that is open in the same browser must not use this server:
//!
//! - The `Host` must be one that this server has, so that another name that was made to
//!   point here (DNS rebinding) is of no use.
//! - A request that says where it comes from must come from this server's own pages.
//! - An address that other machines can reach needs a token.

use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue,
    LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use rand::TryRng;
use std::net::IpAddr;
use std::sync::Arc;

/// What pages may load: only what this server sends.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const COOKIE_NAME: &str = "dshap-token";

/// Bytes of a token.
const TOKEN_BYTES: usize = 24;

/// Who is let in.
#[derive(Debug)]
pub(crate) struct Guard {
    address: IpAddr,
    token: Option<String>,
}

impl Guard {
    /// For a server at this address; one that others can reach gets a token.
    pub(crate) fn new(address: IpAddr) -> std::io::Result<Self> {
        let token = match address.is_loopback() {
            true => None,
            false => Some(random_token()?),
        };
        Ok(Self { address, token })
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    fn check(&self, request: &Request) -> Result<(), Problem> {
        let headers = request.headers();
        let host = text(headers, &HOST).unwrap_or_default();
        if !self.is_own(host) {
            let error = format!("this server is not called `{host}`");
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, error)
                .hint("use the address that dshap printed when it started"));
        }
        let is_elsewhere = match text(headers, &ORIGIN) {
            Some(origin) => origin != format!("http://{host}"),
            // Browsers say this even where there is no origin; programs say neither.
            None => text(headers, &HeaderName::from_static("sec-fetch-site"))
                .is_some_and(|site| !matches!(site, "same-origin" | "none") && !is_navigation(request)),
        };
        match is_elsewhere {
            true => Err(Problem::new(StatusCode::FORBIDDEN, "the request comes from a page of another site")),
            false => Ok(()),
        }
    }

    /// Whether a `Host` header names this server; the port does not matter.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        match name.parse::<IpAddr>() {
            // A server on all addresses cannot know them all, and an address is no name that can be made
            // to point elsewhere.
            Ok(ip) => ip.is_loopback() || ip == self.address || self.address.is_unspecified(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether a request has the token, if one is needed.
    fn has_token(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let bearer = text(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let cookies = text(headers, &COOKIE).unwrap_or_default().split(';');
        let mut cookie = cookies.filter_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='));
        bearer.is_some_and(|given| is_same(given, token)) || cookie.any(|given| is_same(given, token))
    }

    /// The token at the end of the first page's address.
    fn has_token_in_address(&self, request: &Request) -> bool {
        let Some(token) = &self.token else { return false };
        let query = request.uri().query().unwrap_or_default().as_bytes();
        let mut given = form_urlencoded::parse(query).filter(|(name, _)| name == "token");
        request.uri().path() == "/" && given.any(|(_, given)| is_same(&given, token))
    }
}

/// A link from another page to this one, which may be followed.
fn is_navigation(request: &Request) -> bool {
    let mode = text(request.headers(), &HeaderName::from_static("sec-fetch-mode"));
    request.method() == Method::GET && mode == Some("navigate") && !request.uri().path().starts_with("/api/")
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Compares all letters, so that the time tells nothing.
fn is_same(given: &str, token: &str) -> bool {
    let differ = given.bytes().zip(token.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
    given.len() == token.len() && differ == 0
}

fn random_token() -> std::io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    rand::rngs::SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Answers requests that are let in; adds the headers of every reply.
pub(crate) async fn guarded(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let is_page = request.uri().path() == "/";
    let mut response = match guard.check(&request) {
        Err(problem) => problem.into_response(),
        Ok(()) if guard.has_token_in_address(&request) => welcome(guard.token().unwrap_or_default()),
        Ok(()) if !guard.has_token(request.headers()) => unknown(is_page),
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let same_origin = HeaderValue::from_static("same-origin");
    headers.insert("cross-origin-resource-policy", same_origin.clone());
    headers.insert("cross-origin-opener-policy", same_origin);
    response
}

/// Keeps the token in a cookie, and out of the address.
fn welcome(token: &str) -> Response {
    let cookie = format!("{COOKIE_NAME}={token}; HttpOnly; SameSite=Strict; Path=/");
    (StatusCode::SEE_OTHER, [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie)]).into_response()
}

fn unknown(is_page: bool) -> Response {
    if is_page {
        let page = include_str!("assets/token.html");
        return (StatusCode::UNAUTHORIZED, Html(page)).into_response();
    }
    Problem::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong")
        .hint("send the token that dshap printed when it started as `Authorization: Bearer TOKEN`")
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn status(guard: &Guard, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method("POST").uri("/api/runs");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        guard.check(&request).map_or_else(|problem| problem.status, |()| 200)
    }

    #[test]
    fn only_own_names_and_own_pages_are_answered() {
        let local = Guard::new([127, 0, 0, 1].into()).expect("no token is needed");
        assert!(local.token().is_none());
        for host in ["127.0.0.1:8787", "localhost:8787", "LOCALHOST", "[::1]:8787", "127.0.0.1"] {
            assert_eq!(status(&local, &[("host", host)]), 200, "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example", "10.0.0.1:8787", "127.0.0.1.evil.example:8787"]
        {
            assert_eq!(status(&local, &[("host", host)]), 421, "{host}");
        }
        let from = |origin| status(&local, &[("host", "localhost:8787"), ("origin", origin)]);
        assert_eq!(from("http://localhost:8787"), 200);
        for origin in ["http://evil.example", "null", "http://localhost:9999", "https://localhost:8787", ""] {
            assert_eq!(from(origin), 403, "{origin}");
        }
        let site = |site| status(&local, &[("host", "localhost:8787"), ("sec-fetch-site", site)]);
        assert_eq!(
            [site("same-origin"), site("none"), site("cross-site"), site("same-site")],
            [200, 200, 403, 403]
        );
    }

    #[test]
    fn other_addresses_need_the_token() {
        let open = Guard::new([0, 0, 0, 0].into()).expect("there is randomness");
        let other = Guard::new([0, 0, 0, 0].into()).expect("there is randomness");
        let token = open.token().expect("it has one").to_owned();
        assert_eq!(token.len(), 2 * TOKEN_BYTES);
        assert_ne!(open.token(), other.token());
        let has = |name: &str, value: String| {
            let mut headers = HeaderMap::new();
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            headers.insert(name, HeaderValue::from_str(&value).expect("a value"));
            open.has_token(&headers)
        };
        assert!(has("authorization", format!("Bearer {token}")));
        assert!(has("cookie", format!("a=b; dshap-token={token}")));
        for wrong in ["", "Bearer ", "Bearer x", &format!("Bearer {token}x"), &token] {
            assert!(!has("authorization", wrong.into()), "{wrong}");
        }
        assert!(!has("cookie", format!("dshap-token2={token}")));
        assert_eq!(status(&open, &[("host", "192.168.1.7:8787")]), 200);
        assert_eq!(status(&open, &[("host", "evil.example")]), 421);
    }
}
