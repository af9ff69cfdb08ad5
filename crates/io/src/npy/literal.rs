//! The few Python literals that a header is made of.

/// A value as Python would write it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Bool(bool),
    Integer(u64),
    /// A list or a tuple.
    Sequence(Vec<Literal>),
    Dictionary(Vec<(Literal, Literal)>),
}

/// Deeper than any header; a damaged one must not exhaust the stack.
const MAX_DEPTH: usize = 8;

impl Literal {
    /// The value that makes up the whole text.
    pub(super) fn parse(text: &str) -> Option<Literal> {
        let mut parser = Parser { rest: text };
        let literal = parser.value(MAX_DEPTH)?;
        parser.rest.trim_ascii().is_empty().then_some(literal)
    }

    /// An entry of a dictionary.
    pub(super) fn get(&self, key: &str) -> Option<&Literal> {
        let Literal::Dictionary(entries) = self else {
            return None;
        };
        let is_key = |literal: &Literal| matches!(literal, Literal::Text(text) if text == key);
        entries.iter().find(|(name, _)| is_key(name)).map(|(_, value)| value)
    }

    pub(super) fn integer(&self) -> Option<u64> {
        match self {
            Literal::Integer(value) => Some(*value),
            _ => None,
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Option<Literal> {
        let depth = depth.checked_sub(1)?;
        self.rest = self.rest.trim_ascii_start();
        if self.take("True") {
            return Some(Literal::Bool(true));
        }
        if self.take("False") {
            return Some(Literal::Bool(false));
        }
        if self.take("{") {
            let entry = |parser: &mut Self| {
                let key = parser.value(depth)?;
                parser.expect(":")?;
                Some((key, parser.value(depth)?))
            };
            return self.until("}", entry).map(Literal::Dictionary);
        }
        for (open, close) in [("[", "]"), ("(", ")")] {
            if self.take(open) {
                return self.until(close, |parser| parser.value(depth)).map(Literal::Sequence);
            }
        }
        // Python 2 marked Unicode and long integers.
        let text = self.rest.strip_prefix(['u', 'b']).unwrap_or(self.rest);
        if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) {
            self.rest = &text[1..];
            return self.text(quote).map(Literal::Text);
        }
        let n_digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(n_digits);
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits.parse().ok().map(Literal::Integer)
    }

    /// Items with commas between them, and perhaps one after the last.
    fn until<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_ascii_start();
            if self.take(close) {
                return Some(items);
            }
            items.push(item(self)?);
            self.rest = self.rest.trim_ascii_start();
            if !self.take(",") {
                self.expect(close)?;
                return Some(items);
            }
        }
    }

    /// What is left of a string whose opening quote is taken.
    fn text(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        loop {
            match chars.next()? {
                c if c == quote => {
                    self.rest = chars.as_str();
                    return Some(text);
                }
                '\\' => text.push(match chars.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'x' => code_point(&mut chars, 2)?,
                    'u' => code_point(&mut chars, 4)?,
                    'U' => code_point(&mut chars, 8)?,
                    other => other,
                }),
                other => text.push(other),
            }
        }
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.trim_ascii_start();
        self.take(token).then_some(())
    }
}

fn code_point(chars: &mut std::str::Chars<'_>, n_digits: usize) -> Option<char> {
    let mut code = 0;
    for _ in 0..n_digits {
        code = 16 * code + chars.next()?.to_digit(16)?;
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_understood_and_nonsense_is_not() {
        let header = "{'descr': [('a', '<f8'), ((u't', 'b\\u00e9\\''), \"|S3\")], \
                      'fortran_order': False, 'shape': (3L, ), }  \n";
        let literal = Literal::parse(header).expect("is understood");
        let text = |text: &str| Literal::Text(text.to_owned());
        assert_eq!(literal.get("shape"), Some(&Literal::Sequence(vec![Literal::Integer(3)])));
        assert_eq!(literal.get("fortran_order"), Some(&Literal::Bool(false)));
        let Some(Literal::Sequence(fields)) = literal.get("descr") else {
            panic!("{literal:?}");
        };
        let name = Literal::Sequence(vec![text("t"), text("bé'")]);
        assert_eq!(fields[1], Literal::Sequence(vec![name, text("|S3")]));
        for nonsense in
            ["", "{", "{'a'}", "{'a': }", "(1", "'a", "'\\x4", "1 2", "-1", "[[[[[[[[[[1]]]]]]]]]]"]
        {
            assert_eq!(Literal::parse(nonsense), None, "{nonsense}");
        }
    }
}
