//! Options named in texts: `{metric}`, `{metric=cosine}`.

/// The text with every `{name}` and `{name=value}` spelled by `spell`, which is
/// given the name and the value. Texts are those of entries, never of users.
pub fn spelled(text: &str, spell: impl Fn(&str, Option<&str>) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        let Some((named, after)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            continue;
        };
        out += &match named.split_once('=') {
            Some((name, value)) => spell(name, Some(value)),
            None => spell(named, None),
        };
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_settings_are_spelled() {
        let flags = |name: &str, value: Option<&str>| match value {
            Some(value) => format!("--{name} {value}"),
            None => format!("--{name}"),
        };
        assert_eq!(spelled("use {k} or {scale=none}.", flags), "use --k or --scale none.");
        assert_eq!(spelled("nothing", flags), "nothing");
        assert_eq!(spelled("a { b", flags), "a { b");
    }
}
