//! The categories file: which categories there are, and which of them each agent may see.

use std::path::Path;

use loci_types::Error;

use crate::settings::wrong;

/// Reads a categories file.
pub(crate) fn read_categories(file: &Path) -> Result<loci_engine::Categories, Error> {
    let refused = |message: String| wrong(format!("{}: {message}", file.display())).at("categories_file");
    let text = std::fs::read_to_string(file).map_err(|error| refused(format!("it cannot be read: {error}")))?;
    categories(&text).map_err(|error| {
        let refused = refused(error.to_string());
        error.advice().map_or(refused.clone(), |hint| refused.clone().hint(hint))
    })
}

/// Reads and checks the text of a categories file.
fn categories(text: &str) -> Result<loci_engine::Categories, Error> {
    let wrong = |error: String| {
        wrong(error.trim_end().to_owned()).hint("it has `categories` with `system` and `custom`, and `allowlists`")
    };
    if text.trim().is_empty() {
        return Ok(loci_engine::Categories::default());
    }
    let made: loci_engine::Categories = serde_saphyr::from_str(text).map_err(|error| wrong(error.to_string()))?;
    made.validate().map(|()| made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    /// As the specification of categories writes it.
    const WRITTEN: &str = "
categories:
  system:
    - name: profile
      context: all
    - name: event
      context: rag
      rag_length: 30
    - name: activity
      context: rag
      rag_length: 50
  custom: []
allowlists:
  supervisor: [profile, goals, preferences, event, activity, relationships, tasks]
  planner:    [goals, tasks, projects]
  stylist:    [preferences, tone, style]
  researcher: [knowledge, interests, history]
  executor:   [tasks, recent_activity, constraints]
";

    // Coverage: S3-5.2.
    #[test]
    fn a_categories_file_is_read_and_a_wrong_one_is_reported_by_its_key() {
        let made = categories(WRITTEN).unwrap();
        assert_eq!((made.iter().count(), made.allowlists.len()), (3, 5));
        assert_eq!((made.system[0].rag_length, made.system[2].rag_length), (None, Some(50)));
        assert!(made.allowlists["planner"].contains("projects"));
        assert_eq!(categories("\n").unwrap(), loci_engine::Categories::default());
        for (text, part) in [
            ("categories:\n  systems: []\n", "systems"),
            ("allowlists:\n  planner: [gaols]\n", "gaols"),
            ("allowlists:\n  a: [goals]\n  a: [tasks]\n", "a"),
            ("categories:\n  custom:\n    - {name: a, context: all, rag_length: 3}\n", "rag_length"),
            ("categories:\n  custom:\n    - {name: a, context: most}\n", "most"),
            ("categories: [\n", ""),
        ] {
            let error = categories(text).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_categories_file_lies_beside_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("rules")).unwrap();
        std::fs::write(folder.path().join("rules/own.yaml"), WRITTEN).unwrap();
        let config = folder.path().join("loci.toml");
        std::fs::write(&config, "categories_file = \"rules/own.yaml\"\n[redaction]\nrefuse = [\"iban\"]\n").unwrap();
        let (settings, _) = Settings::read(&config).unwrap();
        let engine = settings.engine();
        assert_eq!((engine.categories.system.len(), engine.redaction.refuse.len()), (3, 1));
        assert!(toml::to_string(&settings).unwrap().contains("rules/own.yaml"));
        std::fs::write(&config, "categories_file = \"none.yaml\"\n").unwrap();
        let error = Settings::read(&config).unwrap_err();
        assert_eq!(error.field(), Some("categories_file"));
        assert!(error.to_string().contains("none.yaml"), "{error}");
    }
}
