//! Where the answers of a script's requests go: through pipes, into files and variables, out of functions. Whatever reads
//! one is changed, or needs nothing, or is said with its line.

use super::jq;
use super::letters::{Edits, Letter, Part, Quoting, said, written};
use super::moved::{in_full, path_of};
use super::readers::{Kind, Places, Read, Searched, Spot};
use super::shell::{Command, Redirection, Word};
use super::{Told, Translator};
use crate::wire::Request;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// An answer on its way, or a part of one.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    pub spot: Spot,
    pub places: Rc<Places>,
    /// Whether it surely is one.
    pub is_sure: bool,
    /// Whether something about the request comes behind it, as `curl -w` writes it.
    pub has_status: bool,
}

impl Flow {
    fn unsure(self) -> Self {
        Self { is_sure: false, ..self }
    }

    /// What several commands put out that go on as one, of which nobody knows which was done last.
    fn last(outputs: &[(usize, Option<Self>)]) -> Option<Self> {
        let flows = || outputs.iter().rev().filter_map(|(_, flow)| flow.as_ref());
        let found = flows().find(|flow| !flow.spot.is_same()).or_else(|| flows().next());
        found.cloned().map(Self::unsure)
    }

    /// One of several.
    fn joined(flows: Vec<Self>) -> Option<Self> {
        let mut flows = flows.into_iter();
        let first = flows.next()?;
        Some(flows.fold(first, |one, other| Self {
            spot: one.spot.or(other.spot),
            is_sure: one.is_sure && other.is_sure,
            has_status: one.has_status || other.has_status,
            places: one.places,
        }))
    }
}

/// What a request of a script answers.
#[derive(Debug, Default)]
pub(super) struct Answered {
    pub flow: Option<Flow>,
    /// The file it is written to, instead of being shown.
    pub file: Option<String>,
    /// Whether nobody can tell what was asked.
    pub is_unknown: bool,
}

/// What only says how a command is run.
pub(super) const BEFORE: [&str; 16] = [
    "sudo", "time", "exec", "command", "env", "then", "do", "else", "elif", "if", "while", "until", "!", "{", "@",
    "nohup",
];
/// What gives variables their values.
const GIVES: [&str; 5] = ["local", "export", "declare", "readonly", "typeset"];
/// What ends several commands that go on as one.
const ENDS: [&str; 4] = ["}", "done", "fi", "esac"];
/// What hands on what it reads, as it is.
const HANDS_ON: [&str; 8] = ["cat", "tee", "less", "more", "json_pp", "type", "sponge", "pv"];
/// What takes a file and does not look into it.
const MOVES: [&str; 14] =
    ["rm", "ls", "chmod", "chown", "touch", "mkdir", "trap", "del", "test", "[", "[[", "cd", "unset", "stat"];
const SEARCHES: [&str; 8] = ["grep", "egrep", "fgrep", "rg", "zgrep", "sed", "gsed", "findstr"];
const JQ: [&str; 4] = ["jq", "gojq", "jaq", "jq.exe"];
/// What asks for addresses beside curl.
const ASKS: [&str; 14] = [
    "wget",
    "wget2",
    "http",
    "https",
    "httpie",
    "xh",
    "xhs",
    "curlie",
    "aria2c",
    "lynx",
    "iwr",
    "irm",
    "Invoke-RestMethod",
    "Invoke-WebRequest",
];

/// The outputs of the pipelines in one place.
type Outputs = Vec<(usize, Option<Flow>)>;

/// Goes after the answers of a script.
pub(super) struct Follower<'s> {
    pub translator: &'s Translator,
    pub text: &'s str,
    pub commands: &'s [Command],
    pub answered: &'s HashMap<usize, Answered>,
    /// The dialect to which the script was moved.
    pub target: Option<usize>,
    pub line_of: &'s dyn Fn(usize) -> usize,
    /// What may be answered where nobody knows.
    pub all: Vec<Rc<Places>>,
}

/// What is known at a place in the script.
#[derive(Default)]
struct State {
    /// Files by their names, and variables by theirs behind a dollar.
    held: HashMap<String, Option<Flow>>,
    /// What held an answer somewhere in the script.
    ever: HashMap<String, Flow>,
    functions: HashMap<String, Flow>,
    outputs: HashMap<usize, Outputs>,
    /// Functions that are being read: their names, their first pipeline, how many braces are open.
    open: Vec<(String, usize, usize)>,
    edits: Edits,
    told: Vec<Told>,
}

/// The text around a variable's name that takes a part of it.
fn taken(expansion: &str) -> Option<(&str, &str)> {
    let rest = expansion.strip_prefix('$')?;
    let (rest, is_braced) = rest.strip_prefix('{').map_or((rest, false), |rest| (rest, true));
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    let behind = if is_braced { behind.split('}').next().unwrap_or_default() } else { "" };
    (!name.is_empty()).then_some((name, behind))
}

fn variable(name: &str) -> String {
    format!("${name}")
}

/// A word that gives a variable its value: its name, and where the value begins.
fn assignment(word: &Word) -> Option<(String, usize)> {
    let place = word.letters.iter().position(|letter| letter.is('='))?;
    let name = said(&word.letters[..place]);
    let name = name.strip_suffix('+').unwrap_or(&name);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then(|| (name.to_owned(), place + 1))
}

/// The name of a file, however its variables are written.
fn plain_name(name: &str) -> String {
    name.replace("${", "$").replace('}', "").trim_start_matches("./").to_owned()
}

/// Where the program of a command stands among its words.
fn program_at(words: &[Word]) -> Option<usize> {
    words.iter().position(|word| assignment(word).is_none() && !BEFORE.contains(&said(&word.letters).as_str()))
}

/// Letters of short options: `rc` of `-rc`.
fn flags(word: &str) -> &str {
    word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default()
}

impl Follower<'_> {
    /// The changes of what reads answers, and what is to be said.
    pub fn follow(&self, edits: &mut Edits) -> Vec<Told> {
        // What a function reads may be kept behind it.
        let mut first = State::default();
        self.walk(&mut first);
        let mut state = State { ever: first.ever, functions: first.functions, ..State::default() };
        self.walk(&mut state);
        edits.append(state.edits);
        state.told
    }

    fn walk(&self, state: &mut State) {
        for place in 0..self.commands.len() {
            let command = &self.commands[place];
            let output = self.one(place, state);
            let output = self.redirected(command, output, state);
            let outputs = state.outputs.entry(command.within).or_default();
            match outputs.iter_mut().find(|(pipeline, _)| *pipeline == command.pipeline) {
                Some(known) => known.1 = output,
                None => outputs.push((command.pipeline, output)),
            }
            Self::braces(command, state);
        }
    }

    /// Follows where the commands of a function begin and end.
    fn braces(command: &Command, state: &mut State) {
        let words: Vec<String> = command.words.iter().take(3).map(|word| said(&word.letters)).collect();
        let Some(first) = words.first() else { return };
        if command.is_function {
            state.open.push((first.clone(), command.pipeline, 0));
            return;
        }
        if first == "function" && words.len() > 1 {
            let is_open = usize::from(words.get(2).is_some_and(|word| word == "{"));
            state.open.push((words[1].clone(), command.pipeline, is_open));
            return;
        }
        let Some((name, begun, depth)) = state.open.last_mut() else { return };
        if first == "{" {
            *depth += 1;
        } else if first == "}" {
            *depth = depth.saturating_sub(1);
            if *depth == 0 {
                let outputs = state.outputs.get(&command.within).into_iter().flatten();
                let inner = outputs.filter(|(pipeline, _)| *pipeline > *begun && *pipeline != command.pipeline);
                if let Some(flow) = Flow::last(&inner.cloned().collect::<Outputs>()) {
                    state.functions.insert(name.clone(), flow);
                }
                state.open.pop();
            }
        }
    }

    /// What a name of a file or of a variable holds here.
    fn held(name: &str, state: &State) -> Option<Flow> {
        match state.held.get(name) {
            Some(known) => known.clone(),
            None => state.ever.get(name).cloned().map(Flow::unsure),
        }
    }

    fn hold(name: String, flow: Option<Flow>, state: &mut State) {
        if let Some(flow) = &flow {
            state.ever.insert(name.clone(), flow.clone());
        }
        state.held.insert(name, flow);
    }

    /// The name of a file, as it is written.
    fn file(&self, letters: &[Letter]) -> String {
        plain_name(&in_full(letters, self.text))
    }

    /// What was put out by commands in a place.
    fn output_of(within: usize, state: &State) -> Option<Flow> {
        let outputs = state.outputs.get(&within)?;
        Flow::joined(outputs.iter().filter_map(|(_, flow)| flow.clone()).collect())
    }

    /// The answers that are put into some letters: whole, or a part of one.
    fn put_in(&self, letters: &[Letter], state: &State) -> Vec<(Flow, bool)> {
        let mut found = Vec::new();
        for letter in letters.iter().filter(|letter| letter.is_opaque()) {
            let is_here = letter.quoting == Quoting::Plain;
            let until = if is_here { self.text.len() } else { letter.to };
            let expansion = &self.text[letter.from..until];
            if !is_here && (expansion.starts_with("$(") || expansion.starts_with('`')) {
                found.extend(Self::output_of(letter.from + 1, state).map(|flow| (flow, true)));
                continue;
            }
            let Some((name, part)) = taken(expansion) else { continue };
            let Some(flow) = Self::held(&variable(name), state) else { continue };
            // What was written behind an answer is taken, or what is before it.
            let takes_status = flow.has_status && [": -", "##", "#*"].iter().any(|begin| part.starts_with(begin));
            let drops_status = flow.has_status && part.starts_with('%');
            if takes_status || expansion.starts_with("${#") {
                continue;
            }
            let is_whole = part.is_empty() || drops_status || part.starts_with(":-") || part.starts_with(":?");
            found.push((Flow { has_status: flow.has_status && !drops_status, ..flow }, is_whole));
        }
        found
    }

    fn say(&self, command: &Command, why: String, state: &mut State) {
        let line = (self.line_of)(command.words.first().map_or(0, |word| word.written.start));
        if !state.told.iter().any(|told| told.line == line && told.warnings.contains(&why)) {
            state.told.push(Told::unknown(line, why));
        }
    }

    fn by_itself(&self, command: &Command, program: &str, flow: &Flow, state: &mut State) {
        let why = if flow.is_sure {
            format!("`{program}` reads the answer by itself: look at what is around the record there")
        } else {
            format!("if `{program}` reads an answer here, look at what is around the record there")
        };
        self.say(command, why, state);
    }

    /// What goes to a file is held there.
    fn redirected(&self, command: &Command, output: Option<Flow>, state: &mut State) -> Option<Flow> {
        let mut output = output;
        for redirection in &command.redirections {
            match redirection {
                Redirection::To(word) => {
                    let name = self.file(&word.letters);
                    if name.starts_with("/dev/") {
                        if name != "/dev/stdout" {
                            output = None;
                        }
                        continue;
                    }
                    let is_more = self.text[..word.written.start].trim_end().ends_with(">>");
                    let flow = output.take();
                    if flow.is_some() || !is_more {
                        Self::hold(name, flow, state);
                    }
                }
                Redirection::Away => output = None,
                Redirection::From(_) | Redirection::Text(_) | Redirection::Commands(_) => {}
            }
        }
        output
    }

    /// What one command reads, beside what its words say: by a pipe, from a file, from other commands.
    fn input(&self, command: &Command, state: &State) -> Option<Flow> {
        let mut flows = Vec::new();
        if command.is_piped {
            let outputs = state.outputs.get(&command.within).map(Vec::as_slice).unwrap_or_default();
            match outputs.iter().find(|(pipeline, _)| *pipeline == command.pipeline) {
                Some((_, flow)) => flows.extend(flow.clone()),
                // Several commands go on as one.
                None => flows.extend(Flow::last(outputs)),
            }
        }
        for redirection in &command.redirections {
            match redirection {
                Redirection::From(word) => flows.extend(Self::held(&self.file(&word.letters), state)),
                Redirection::Text(word) => {
                    flows.extend(self.put_in(&word.letters, state).into_iter().map(|(flow, _)| flow));
                }
                Redirection::Commands(from) => flows.extend(Self::output_of(from + 1, state)),
                Redirection::To(_) | Redirection::Away => {}
            }
        }
        flows.extend(self.put_in(&command.here, state).into_iter().map(|(flow, _)| flow));
        Flow::joined(flows)
    }

    /// What becomes of one command, and what it puts out.
    fn one(&self, place: usize, state: &mut State) -> Option<Flow> {
        let command = &self.commands[place];
        let input = self.input(command, state);
        if let Some(answered) = self.answered.get(&place) {
            self.sends_on(command, input.as_ref(), state);
            let unknown = self.all.first().filter(|_| answered.is_unknown).map(|places| Flow {
                spot: Spot::Unclear,
                places: Rc::clone(places),
                is_sure: false,
                has_status: false,
            });
            let flow = answered.flow.clone().or(unknown);
            if let Some(file) = &answered.file {
                Self::hold(plain_name(file), flow, state);
                return None;
            }
            return flow;
        }
        if command.is_function {
            return None;
        }
        let Some(at) = program_at(&command.words) else {
            self.addresses(command, "the script", state);
            self.gives(command, &command.words, state);
            return None;
        };
        let words = &command.words[at..];
        let program = said(&words[0].letters);
        let shown = in_full(&words[0].letters, self.text);
        let program = program.rsplit('/').next().unwrap_or_default();
        if !["echo", "printf"].contains(&program) {
            self.addresses(command, &shown, state);
        }
        if GIVES.contains(&program) {
            self.gives(command, &words[1..], state);
            return None;
        }
        if ENDS.contains(&program) {
            if let Some(flow) = input.filter(|flow| !flow.spot.is_same()) {
                self.by_itself(command, &shown, &flow, state);
            }
            let outputs = state.outputs.get(&command.within).map(Vec::as_slice).unwrap_or_default();
            return Flow::last(outputs);
        }
        if JQ.contains(&program) {
            return self.jq(command, words, input, state);
        }
        self.other(command, words, program, &shown, input, state)
    }

    /// A request that sends what was answered.
    fn sends_on(&self, command: &Command, input: Option<&Flow>, state: &mut State) {
        let mut sent: Vec<Flow> = input.cloned().into_iter().collect();
        for word in &command.words {
            sent.extend(self.put_in(&word.letters, state).into_iter().map(|(flow, _)| flow));
            if word.letters.first().is_some_and(|letter| letter.is('@')) {
                sent.extend(Self::held(&self.file(&word.letters[1..]), state));
            }
        }
        if sent.iter().any(|flow| !flow.spot.is_same()) {
            let why = "`curl` sends on what was answered: look at what is around the record there".to_owned();
            self.say(command, why, state);
        }
    }

    /// Variables get their values.
    fn gives(&self, command: &Command, words: &[Word], state: &mut State) {
        for word in words {
            let Some((name, from)) = assignment(word) else { continue };
            let value = &word.letters[from..];
            let flows = self.put_in(value, state);
            let is_whole = value.len() == 1 && flows.iter().all(|(_, is_whole)| *is_whole);
            let flow = Flow::joined(flows.into_iter().map(|(flow, _)| flow).collect());
            match flow.filter(|flow| is_whole || !flow.spot.is_same()) {
                Some(flow) if !is_whole => {
                    self.by_itself(command, &format!("{name}="), &flow, state);
                    Self::hold(variable(&name), None, state);
                }
                flow => Self::hold(variable(&name), flow, state),
            }
        }
    }

    /// The answers that a command is given by its words: files, and what is put in.
    fn given(&self, words: &[Word], state: &State) -> Vec<Flow> {
        let mut flows = Vec::new();
        for word in words {
            flows.extend(self.put_in(&word.letters, state).into_iter().map(|(flow, _)| flow));
            flows.extend(Self::held(&self.file(&word.letters), state));
        }
        flows
    }

    /// A program that is neither `curl` nor `jq`.
    fn other(
        &self,
        command: &Command,
        words: &[Word],
        program: &str,
        shown: &str,
        input: Option<Flow>,
        state: &mut State,
    ) -> Option<Flow> {
        let rest = &words[1..];
        let arguments: Vec<String> = rest.iter().map(|word| said(&word.letters)).collect();
        if ["echo", "printf"].contains(&program) {
            let put_in = rest.iter().flat_map(|word| self.put_in(&word.letters, state));
            let (flows, whole): (Vec<Flow>, Vec<bool>) = put_in.unzip();
            let flow = Flow::joined(flows)?;
            if !flow.spot.is_same() && !whole.iter().all(|is_whole| *is_whole) {
                self.by_itself(command, shown, &flow, state);
                return None;
            }
            return Some(flow);
        }
        if let ("mv" | "cp", [.., from, to]) = (program, rest) {
            let flow = Self::held(&self.file(&from.letters), state);
            Self::hold(self.file(&to.letters), flow, state);
            return None;
        }
        let is_tool = program.starts_with("python") && arguments.iter().any(|word| word == "json.tool");
        // Its files are written.
        let given = if program == "tee" { Vec::new() } else { self.given(rest, state) };
        let flow = Flow::joined(input.into_iter().chain(given).collect());
        let flow = match flow {
            Some(flow) if !flow.spot.is_same() => flow,
            // A function puts out what its commands do.
            same => return state.functions.get(program).cloned().or(same),
        };
        let is_asked_for =
            arguments.first().is_some_and(|word| ["-n", "-z", "-s", "-f", "-e", "-r"].contains(&word.as_str()))
                && arguments.len() <= 3;
        let is_kept = MOVES.contains(&program) && (is_asked_for || !["test", "[", "[["].contains(&program));
        if is_kept || ["true", ":", "return"].contains(&program) {
            return None;
        }
        if HANDS_ON.contains(&program) || is_tool {
            if program == "tee" {
                for word in rest.iter().filter(|word| !word.letters.first().is_some_and(|letter| letter.is('-'))) {
                    Self::hold(self.file(&word.letters), Some(flow.clone()), state);
                }
            }
            return Some(flow);
        }
        let all = arguments.join(" ");
        match (flow.has_status, program, all.as_str()) {
            (true, "tail", "-n1" | "-n 1" | "-1") => return None,
            (true, "head", "-n -1" | "-n-1") | (true, "sed", "$d" | "$ d") => {
                return Some(Flow { has_status: false, ..flow });
            }
            _ => {}
        }
        if SEARCHES.contains(&program) {
            return self.search(command, rest, program, flow, state);
        }
        self.by_itself(command, shown, &flow, state);
        state.functions.get(program).cloned()
    }

    /// What looks for a text in an answer.
    fn search(&self, command: &Command, words: &[Word], program: &str, flow: Flow, state: &mut State) -> Option<Flow> {
        let is_option = |word: &&Word| word.letters.first().is_some_and(|letter| letter.is('-'));
        let has_name = |word: &&Word| word.letters.iter().any(|letter| letter.is('"'));
        let mut patterns: Vec<&Word> = words.iter().filter(has_name).collect();
        if patterns.is_empty() {
            patterns.extend(words.iter().find(|word| !is_option(word)));
        }
        let mut is_cut = false;
        for pattern in patterns {
            let text = said(&pattern.letters);
            is_cut |= text.contains(".*\"") && text.contains(".*/");
            match flow.places.searched(program, &text, flow.spot) {
                Searched::Same => {}
                Searched::Renamed(names) => {
                    for (place, new) in names {
                        state.edits.replace(&pattern.letters[place], &[Part::Words(new)]);
                    }
                }
                Searched::Said(why) if flow.is_sure => self.say(command, why, state),
                Searched::Said(_) => self.by_itself(command, program, &flow, state),
            }
        }
        let has = |flag: char| words.iter().any(|word| flags(&said(&word.letters)).contains(flag));
        let is_sed = program.ends_with("sed");
        let is_part = if is_sed { is_cut } else { has('o') || has('q') || has('c') || has('l') };
        (!is_part).then_some(flow)
    }

    fn jq(&self, command: &Command, words: &[Word], input: Option<Flow>, state: &mut State) -> Option<Flow> {
        let mut rest = words.iter().skip(1);
        let (mut filter, mut files, mut others) = (None, Vec::new(), Vec::new());
        let mut otherwise = None;
        let (mut has_input, mut asks) = (true, false);
        while let Some(word) = rest.next() {
            let option = said(&word.letters);
            match option.as_str() {
                "--arg" | "--argjson" | "--slurpfile" | "--rawfile" => {
                    rest.next();
                    others.extend(rest.next());
                }
                "--args" | "--jsonargs" => {
                    if filter.is_none() {
                        filter = rest.next();
                    }
                    others.extend(rest.by_ref());
                }
                "--indent" | "-L" => drop(rest.next()),
                "--slurp" | "--raw-input" | "--stream" | "--seq" | "--from-file" => otherwise = Some(option),
                "--null-input" => has_input = false,
                "--exit-status" => asks = true,
                option if option.starts_with("--") => {}
                option if option.len() > 1 && option.starts_with('-') => {
                    has_input &= !option.contains('n');
                    asks |= option.contains('e');
                    if option.contains(['s', 'R', 'f']) {
                        otherwise = Some(option.to_owned());
                    }
                }
                _ if filter.is_none() => filter = Some(word),
                _ => files.push(word),
            }
        }
        // Answers that are put into the filter or given to it by a name.
        let mut aside: Vec<Flow> = self.given(&others.into_iter().cloned().collect::<Vec<_>>(), state);
        let filter = filter?;
        aside.extend(self.put_in(&filter.letters, state).into_iter().map(|(flow, _)| flow));
        if let Some(flow) = aside.into_iter().find(|flow| !flow.spot.is_same()) {
            self.by_itself(command, "jq", &flow, state);
        }
        if !has_input {
            if said(&filter.letters).contains("input")
                && let Some(flow) = input.filter(|flow| !flow.spot.is_same())
            {
                self.by_itself(command, "jq", &flow, state);
            }
            return None;
        }
        let from_files: Vec<Flow> =
            files.iter().filter_map(|word| Self::held(&self.file(&word.letters), state)).collect();
        let flow = Flow::joined(input.into_iter().chain(from_files).collect());
        let is_unsure = flow.as_ref().is_some_and(|flow| !flow.is_sure && !flow.spot.is_same());
        let Some(flow) = flow.filter(|_| !is_unsure) else {
            if is_unsure || !files.is_empty() || self.may_read(command, state) {
                self.alone(command, filter, otherwise.is_some(), state);
            }
            return None;
        };
        if flow.spot.is_same() {
            return Some(flow);
        }
        if let Some(option) = otherwise {
            let why = format!("`jq {option}` reads the answer by itself: look at what is around the record there");
            self.say(command, why, state);
            return None;
        }
        let (read, end) = jq::read(&flow.places, &said(&filter.letters), flow.spot);
        if asks && matches!(end, Spot::Data(_)) && flow.places.data[1].is_none() {
            let why =
                "`jq -e` asks for what is null in a failure, where the failure itself is answered there".to_owned();
            self.say(command, why, state);
        }
        self.changed(command, filter, read, state);
        Some(Flow { spot: end, has_status: false, ..flow })
    }

    fn changed(&self, command: &Command, filter: &Word, read: Read, state: &mut State) {
        for why in read.warnings {
            self.say(command, why, state);
        }
        match &read.prefix {
            Some(prefix) => begin(filter, prefix, &read.changes, &mut state.edits),
            None => {
                for (place, new) in read.changes {
                    state.edits.replace(&filter.letters[place], &[Part::Words(new)]);
                }
            }
        }
    }

    /// A filter of which nobody knows what it reads: it is changed where it looks into an envelope, and else said where
    /// it may read an answer.
    fn alone(&self, command: &Command, filter: &Word, is_odd: bool, state: &mut State) {
        if self.all.is_empty() {
            return;
        }
        let words = said(&filter.letters);
        let reads: Vec<_> =
            self.all.iter().map(|places| (places, jq::read(places, &words, places.answer()).0)).collect();
        let is_untouched = reads.iter().all(|(_, read)| *read == Read::default());
        if is_untouched && !is_odd {
            return;
        }
        let has_envelope = self.all.iter().any(|places| places.data[0].is_some());
        let deeper = "if `jq` reads an answer here, all of it is deeper there".to_owned();
        if !has_envelope {
            self.say(command, deeper, state);
            return;
        }
        let in_envelope = |(places, _): &&(&Rc<Places>, Read)| places.is_named(&words);
        let mut known: Vec<_> = reads.iter().filter(in_envelope).collect();
        known.sort_by_key(|(places, read)| (read.warnings.len(), places.kind != Kind::Record));
        match known.first() {
            Some((_, read)) if !is_odd && !read.changes.is_empty() => {
                self.changed(command, filter, read.clone(), state);
            }
            Some(_) => {
                let why = "if `jq` reads an answer here, look at what is around the record there".to_owned();
                self.say(command, why, state);
            }
            None => {}
        }
    }

    /// Whether a command that nobody gave an answer may read one all the same.
    fn may_read(&self, command: &Command, state: &State) -> bool {
        let before = self.commands.iter().take_while(|one| !std::ptr::eq(*one, command));
        let before = before.filter(|one| command.is_piped && one.pipeline == command.pipeline).last();
        let has_unknown =
            |words: &[Word]| words.iter().any(|word| word.letters.iter().any(|letter| letter.is_opaque()));
        match before {
            None => true,
            Some(before) => {
                let Some(at) = program_at(&before.words) else { return true };
                let program = said(&before.words[at].letters);
                let is_shown = ["echo", "printf"].contains(&program.as_str()) && has_unknown(&before.words[at + 1..]);
                let is_of_script = state.functions.contains_key(&program) || ENDS.contains(&program.as_str());
                is_shown || is_of_script || program == "cat" || has_unknown(&before.words[at..=at])
            }
        }
    }

    /// Addresses of the API that no `curl` asks.
    fn addresses(&self, command: &Command, shown: &str, state: &mut State) {
        let program = shown.rsplit('/').next().unwrap_or_default();
        let is_asking = ASKS.iter().any(|known| known.eq_ignore_ascii_case(program));
        let here = [said(&command.here)];
        let words = command.words.iter().map(|word| said(&word.letters)).chain(here);
        for (place, word) in words.enumerate() {
            let own = self.translator.dialects.iter().enumerate().find(|(dialect, one)| {
                let is_below = word.contains(&format!("{}/", one.base)) || word.ends_with(&one.base);
                Some(*dialect) != self.target && !one.base.is_empty() && is_below
            });
            let found = own.map(|(_, one)| one.name.clone()).or_else(|| {
                let letters = command.words.get(place).filter(|_| is_asking)?;
                let (from, _) = path_of(&letters.letters, self.text).ok()?;
                ["GET", "POST", "PUT", "PATCH", "DELETE"].into_iter().find_map(|method| {
                    let request = Request {
                        method: method.to_owned(),
                        target: said(&letters.letters[from..]),
                        headers: Vec::new(),
                        body: None,
                    };
                    let (dialect, _, _) = self.translator.recognised(&request).ok()?;
                    (Some(dialect) != self.target).then(|| self.translator.dialects[dialect].name.clone())
                })
            });
            if let Some(name) = found {
                let shown = crate::curl::brief(shown);
                let why = format!(
                    "`{shown}` names an address of {name}, which stays: only requests of `curl` are translated here"
                );
                self.say(command, why, state);
                return;
            }
            // An address that is all in a variable.
            let is_hidden = command.words.get(place).is_some_and(|word| {
                word.letters.first().is_some_and(|letter| letter.is_opaque())
                    && !word.letters.iter().any(|one| one.is('='))
            });
            let is_value = place > 0 && command.words[place - 1].letters.first().is_some_and(|letter| letter.is('-'));
            if is_asking && is_hidden && !is_value && !self.all.is_empty() {
                let why = format!(
                    "`{shown}` asks for an address that is not shown: only requests of `curl` are translated here"
                );
                self.say(command, why, state);
                return;
            }
        }
    }
}

/// Puts something before all that a word says, beside other changes of it.
fn begin(word: &Word, prefix: &str, changes: &[(Range<usize>, String)], edits: &mut Edits) {
    let is_bare = word.letters.iter().all(|letter| matches!(letter.quoting, Quoting::Bare | Quoting::Windows));
    let is_known = !word.letters.iter().any(|letter| letter.is_opaque());
    if is_bare && is_known {
        let letters: Vec<char> = said(&word.letters).chars().collect();
        let new = format!("{prefix}{}", super::scripts::apply(&letters, changes));
        let of_windows = word.letters.iter().any(|letter| letter.quoting == Quoting::Windows);
        let (mark, quoting) = if of_windows { ('"', Quoting::WindowsDouble) } else { ('\'', Quoting::Single) };
        edits.put(word.written.clone(), format!("{mark}{}{mark}", written(&[Part::Words(new)], quoting)));
        return;
    }
    for (place, new) in changes {
        edits.replace(&word.letters[place.clone()], &[Part::Words(new.clone())]);
    }
    if let Some(first) = word.letters.first() {
        edits.put(first.from..first.from, written(&[Part::Words(prefix.to_owned())], first.quoting));
    }
}
