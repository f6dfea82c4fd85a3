// SPDX-License-Identifier: GPL-2.0-only

use proptest::prelude::*;

use crate::{DataSheet, Error, load, names, parse, parse_under};

fn again(sheet: &DataSheet) -> Result<DataSheet, Error> {
    parse("again", &sheet.text)?.resolve()
}

#[test]
fn the_text_of_a_built_in_machine_is_its_file() {
    for name in names() {
        let sheet = load(name).unwrap();
        let mut again = again(&sheet).unwrap();
        // The same warnings, of another file.
        let rules = |sheet: &DataSheet| -> Vec<&str> {
            sheet.warnings.iter().map(|warning| warning.rule).collect()
        };
        assert_eq!(rules(&again), rules(&sheet), "{name}");
        again.warnings.clone_from(&sheet.warnings);
        assert_eq!(again, sheet, "{name}");
    }
}

/// Values, sources, spreads and confidences, whatever stands above whatever.
#[test]
fn a_file_over_others_is_written_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let head = "schema = \"alight.machine/1\"\n";
        std::fs::write(folder.path().join(name), format!("{head}{text}")).unwrap();
    };
    for name in names() {
        write("base.toml", &format!("inherits = \"{name}\"\n"));
        write(
            "over.toml",
            "inherits = \"base.toml\"\nname = \"a \\\"name\\\"\"\nnotes = [\"a note\"]\n\
             hz = { value = 1000, spread = [999, 1001], source = \"here\" }\n\
             [sources]\nhere = { text = \"said \\\"so\\\"\", confidence = \"measured\" }\n\
             [memory]\nsource = \"here\"\nconfidence = \"assumed\"\ndram_line_ns = 77\n\
             [costs.x86]\nsource = \"here\"\nswitch_ns = 777\n",
        );
        let path = folder.path().join("over.toml");
        let sheet = load(path.to_str().unwrap()).unwrap();
        let again = again(&sheet).unwrap_or_else(|error| panic!("{error}\n{}", sheet.text));
        assert_eq!(again.machine, sheet.machine, "{name}");
        assert_eq!(again.figures, sheet.figures, "{name}");
        assert_eq!(
            (again.machine.hz, again.machine.memory.dram_line_ns),
            (1000, 77)
        );
        assert_eq!(again.notes, ["a note"]);
        assert_eq!(again.text, sheet.text, "{name}");
    }
}

/// What holds in a core type goes; its idle states keep their sources.
#[test]
fn idle_states_stay_a_list_where_their_core_type_has_another_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("over.toml");
    let over = "schema = \"alight.machine/1\"\ninherits = \"juno-r0\"\n\
                [sources]\nhere = { text = \"said here\", confidence = \"assumed\" }\n\
                [core_type.Cortex-A53]\nl2_kib = { value = 77, source = \"here\" }\n";
    std::fs::write(&path, over).unwrap();
    let sheet = load(path.to_str().unwrap()).unwrap();
    let again = again(&sheet).unwrap_or_else(|error| panic!("{error}\n{}", sheet.text));
    assert_eq!(again.machine, sheet.machine);
    assert_eq!(again.figures, sheet.figures);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a file leaves out: if it is a machine, its text is the same one.
    #[test]
    fn what_is_left_of_a_file_is_written_as_it_is(
        name in 0..names().len(),
        gone in prop::collection::vec(0..400usize, 0..4),
    ) {
        let whole = load(names()[name]).unwrap().text;
        let lines = whole.lines().enumerate();
        let left: Vec<&str> = lines
            .filter(|(number, _)| !gone.contains(number))
            .map(|(_, line)| line)
            .collect();
        let left = left.join("\n");
        let Ok(sheet) = parse("left", &left).and_then(crate::Draft::resolve) else {
            return Ok(());
        };
        let over = "schema = \"alight.machine/1\"";
        let written = parse_under("left", &left, over).unwrap().resolve().unwrap();
        prop_assert_eq!(&written.machine, &sheet.machine);
        let again = again(&written).unwrap();
        prop_assert_eq!(&again.machine, &sheet.machine);
        prop_assert_eq!(&again.figures, &sheet.figures);
    }
}
