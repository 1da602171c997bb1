//! The commands of a `.trycmd` or `.md` file of trycmd 1.2 with the output that is recorded for each, and the
//! text with another output. Pure functions of texts.

/// One `$ command` with its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The command as written, its lines joined by blanks.
    pub command: String,
    /// 1-based line of the `$`.
    pub line: usize,
    /// 1-based lines of the output, the last one not in it.
    pub output: std::ops::Range<usize>,
    /// Without its last newline.
    pub text: String,
}

/// The steps of a file; `Err` where trycmd would not read it.
pub fn of(source: &str) -> Result<Vec<Step>, String> {
    let source = lines(source);
    let mut rest = source.split_inclusive('\n').enumerate().map(|(nth, line)| (nth + 1, line)).peekable();
    let mut steps = Vec::new();
    while let Some((_, line)) = rest.next() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks < 3 {
            continue;
        }
        let fence = &line[..ticks];
        let info = line[ticks..].trim();
        let mut words = info.split(',');
        let ours = matches!(words.next().unwrap_or_default(), "" | "trycmd" | "console");
        if !(ours && (info.is_empty() || !words.any(|word| word == "ignore"))) {
            for (_, line) in rest.by_ref() {
                if line.starts_with(fence) {
                    break;
                }
            }
            continue;
        }
        while let Some((number, line)) = rest.next() {
            if line.starts_with(fence) {
                break;
            }
            let Some(first) = line.strip_prefix("$ ") else {
                return Err(format!("line {number} should begin with `$ `"));
            };
            let mut step = Step {
                command: first.trim().to_string(),
                line: number,
                output: number + 1..number + 1,
                text: String::new(),
            };
            while let Some((number, line)) = rest.next_if(|(_, line)| line.starts_with("> ")) {
                step.command.push(' ');
                step.command.push_str(line[2..].trim());
                step.output = number + 1..number + 1;
            }
            if let Some((number, _)) = rest.next_if(|(_, line)| line.starts_with("? ")) {
                step.output = number + 1..number + 1;
            }
            while let Some((number, line)) =
                rest.next_if(|(_, line)| !line.starts_with("$ ") && !line.starts_with(fence))
            {
                step.text.push_str(line);
                step.output.end = number + 1;
            }
            if step.text.ends_with('\n') {
                step.text.pop();
            }
            steps.push(step);
            if rest.next_if(|(_, line)| line.starts_with(fence)).is_some() {
                break;
            }
        }
    }
    Ok(steps)
}

/// Line ends as trycmd reads them.
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The file with other output of one step, as `TRYCMD=overwrite` writes it; `None` where it would not read back.
pub fn replaced(source: &str, step: &Step, output: &str) -> Option<String> {
    let source = lines(source);
    let mut out = String::new();
    let mut put = false;
    for (nth, line) in source.split_inclusive('\n').enumerate() {
        if nth + 1 == step.output.start {
            out.push_str(output);
            out.push('\n');
            put = true;
        }
        if !step.output.contains(&(nth + 1)) {
            out.push_str(line);
        }
    }
    if !put {
        return None;
    }
    let before = of(&source).ok()?;
    let after = of(&out).ok()?;
    let same = before.len() == after.len()
        && before.iter().zip(&after).all(|(old, new)| {
            let text = if old.line == step.line { output } else { old.text.as_str() };
            old.command == new.command && new.text == text
        });
    same.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Title\n\n```console\n$ one --flag\n> more\n? 2\nout\n\n$ two\nx\n```\n\n```console,ignore\n$ no\n```\n\
                        ```rust\n$ no\n```\n````\n$ three\n```\n````\n```trycmd\n$ four\n```\n";

    #[test]
    fn commands_are_found_with_their_output() {
        let steps = of(FILE).unwrap();
        let shown: Vec<String> = steps
            .iter()
            .map(|step| format!("{} {} {:?} {:?}", step.line, step.command, step.output, step.text))
            .collect();
        assert_eq!(
            shown,
            [
                "4 one --flag more 7..9 \"out\\n\"",
                "9 two 10..11 \"x\"",
                "20 three 21..22 \"```\"",
                "24 four 25..25 \"\""
            ]
        );
        assert_eq!(of("```\nno command\n```\n").unwrap_err(), "line 2 should begin with `$ `");
    }

    #[test]
    fn another_output_stands_in_the_same_place() {
        let steps = of(FILE).unwrap();
        assert_eq!(replaced(FILE, &steps[1], "y\nz\n").unwrap(), FILE.replace("$ two\nx\n", "$ two\ny\nz\n\n"));
        assert_eq!(replaced(FILE, &steps[3], "new").unwrap(), FILE.replace("$ four\n", "$ four\nnew\n"));
        assert_eq!(replaced(FILE, &steps[1], "$ three"), None);
        assert_eq!(replaced(FILE, &steps[1], "a\n```\nb"), None);
    }
}
