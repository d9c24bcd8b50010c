//! Procedures and functions outside packages.

use super::database::{Database, Scope};
use super::name::{literal, name};
use super::order::Node;
use super::parameter::{self, Parameter, Routine};
use super::script::Script;
use super::table::security;
use super::udf;
use crate::failure::Result;
use firearrow::catalog::{Direction, Function, Language, Procedure, ProcedureKind, RoutineKind};
use std::collections::{BTreeSet, HashMap};

/// Procedures and functions, with their parameters. Those of packages are there for their comments.
pub(super) struct Routines {
    pub(super) procedures: Vec<Procedure>,
    pub(super) functions: Vec<Function>,
    pub(super) parameters: HashMap<Routine, Vec<Parameter>>,
    /// `SQL SECURITY DEFINER`, by the name of the routine.
    definers: HashMap<(RoutineKind, String), bool>,
}

/// Which part of a routine is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// All but the body.
    Stub,
    /// The body of what is there.
    Body,
}

impl Routines {
    pub(super) fn read(database: &Database, scope: Scope<'_>) -> Result<Self> {
        let mut definers = HashMap::new();
        if database.is_at_least(4) {
            for (kind, sql, column) in [
                (RoutineKind::Procedure, OF_PROCEDURES, "P.RDB$PROCEDURE_NAME"),
                (RoutineKind::Function, OF_FUNCTIONS, "P.RDB$FUNCTION_NAME"),
            ] {
                definers.extend(
                    database.ask_scope(sql, column, scope, |row| {
                        Ok(((kind, row.get(0)?), row.get::<bool>(1)?))
                    })?,
                );
            }
        }
        Ok(Self {
            procedures: database.catalog.procedures(scope.name())?,
            functions: database.catalog.functions(scope.name())?,
            parameters: parameter::read(database, scope)?,
            definers,
        })
    }

    /// Returns the views whose columns are the types of parameters, by the routine or package that declares them.
    pub(super) fn views_of_types(&self) -> HashMap<Node, BTreeSet<Node>> {
        let mut views = HashMap::<Node, BTreeSet<Node>>::new();
        for ((kind, package, routine), parameters) in &self.parameters {
            let node = match (package, kind) {
                (Some(package), _) => Node::Package(package.clone()),
                (None, RoutineKind::Procedure) => Node::Procedure(routine.clone()),
                (None, RoutineKind::Function) => Node::Function(routine.clone()),
            };
            let tables = parameters.iter().filter_map(Parameter::table);
            views.entry(node).or_default().extend(tables.map(|table| Node::View(table.to_owned())));
        }
        views
    }

    /// Returns the procedure with this name that is in no package.
    pub(super) fn procedure(&self, name: &str) -> Option<&Procedure> {
        self.procedures.iter().find(|procedure| procedure.package.is_none() && procedure.name == name)
    }

    /// Returns the function with this name that is in no package.
    pub(super) fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.package.is_none() && function.name == name)
    }

    pub(super) fn parameters(&self, kind: RoutineKind, package: Option<&String>, name: &str) -> &[Parameter] {
        let key = (kind, package.cloned(), name.to_owned());
        self.parameters.get(&key).map_or(&[], Vec::as_slice)
    }

    pub(super) fn create_procedure(
        &self,
        database: &Database,
        procedure: &Procedure,
        part: Part,
        script: &mut Script,
    ) -> Result<()> {
        let parameters = self.parameters(RoutineKind::Procedure, None, &procedure.name);
        let is_stub = part == Part::Stub;
        let list = |direction| list(database, parameters, direction, is_stub);
        let mut sql = format!("{} PROCEDURE {}", verb(part), name(&procedure.name));
        sql += &list(Direction::In)?;
        let outputs = list(Direction::Out)?;
        if !outputs.is_empty() {
            sql += &format!("\nRETURNS{outputs}");
        }
        let stub = match procedure.kind {
            Some(ProcedureKind::Selectable) => "BEGIN SUSPEND; END",
            _ => "BEGIN END",
        };
        let source = procedure.source.as_deref();
        let definer = self.definers.get(&(RoutineKind::Procedure, procedure.name.clone()));
        sql += &body(&procedure.language, source, is_stub, stub, definer);
        script.add_body("PROCEDURE", &procedure.name, sql);
        if part != Part::Body {
            self.comment_procedure(procedure, script);
        }
        Ok(())
    }

    pub(super) fn create_function(
        &self,
        database: &Database,
        function: &Function,
        part: Part,
        script: &mut Script,
    ) -> Result<()> {
        let parameters = self.parameters(RoutineKind::Function, None, &function.name);
        if let Language::Udf { module, entry_point } = &function.language {
            let library = (module.as_str(), entry_point.as_deref().unwrap_or_default());
            script.add("FUNCTION", &function.name, udf::declaration(database, &function.name, library)?);
            script.comment("FUNCTION", &function.name, function.remarks.as_ref());
            return Ok(());
        }
        let is_stub = part == Part::Stub;
        let mut sql = format!("{} FUNCTION {}", verb(part), name(&function.name));
        sql += &list(database, parameters, Direction::In, is_stub)?;
        for result in parameters.iter().filter(|one| one.parameter.direction == Direction::Return) {
            sql += &format!("\nRETURNS {}", result.definition(database, is_stub)?);
        }
        if function.deterministic {
            sql += " DETERMINISTIC";
        }
        let source = function.source.as_deref();
        let definer = self.definers.get(&(RoutineKind::Function, function.name.clone()));
        sql += &body(&function.language, source, is_stub, "BEGIN RETURN NULL; END", definer);
        script.add_body("FUNCTION", &function.name, sql);
        if part != Part::Body {
            self.comment_function(function, script);
        }
        Ok(())
    }

    pub(super) fn comment_procedure(&self, procedure: &Procedure, script: &mut Script) {
        let package = procedure.package.as_ref();
        let parameters = self.parameters(RoutineKind::Procedure, package, &procedure.name);
        comment("PROCEDURE", package, &procedure.name, procedure.remarks.as_ref(), parameters, script);
    }

    pub(super) fn comment_function(&self, function: &Function, script: &mut Script) {
        let package = function.package.as_ref();
        let parameters = self.parameters(RoutineKind::Function, package, &function.name);
        comment("FUNCTION", package, &function.name, function.remarks.as_ref(), parameters, script);
    }
}

/// Adds the comments on a routine and its parameters.
fn comment(
    kind: &str,
    package: Option<&String>,
    routine: &str,
    remarks: Option<&String>,
    parameters: &[Parameter],
    script: &mut Script,
) {
    let full = match package {
        Some(package) => format!("{}.{}", name(package), name(routine)),
        None => name(routine),
    };
    let object = package.map_or(routine, String::as_str);
    script.comment_on(kind, object, &full, remarks);
    for Parameter { parameter, .. } in parameters {
        let Some(own) = &parameter.name else { continue };
        let part = format!("{full}.{}", name(own));
        script.comment_on(&format!("{kind} PARAMETER"), object, &part, parameter.remarks.as_ref());
    }
}

fn verb(part: Part) -> &'static str {
    if part == Part::Body { "ALTER" } else { "CREATE" }
}

/// Returns the parameters of a direction in parentheses, after a blank; nothing if there are none.
fn list(
    database: &Database,
    parameters: &[Parameter],
    direction: Direction,
    is_stub: bool,
) -> Result<String> {
    let mut items = Vec::new();
    for parameter in parameters.iter().filter(|one| one.parameter.direction == direction) {
        items.push(parameter.definition(database, is_stub)?);
    }
    Ok(if items.is_empty() { String::new() } else { format!(" (\n    {}\n)", items.join(",\n    ")) })
}

/// Returns what follows the parameters.
fn body(
    language: &Language,
    source: Option<&str>,
    is_stub: bool,
    stub: &str,
    definer: Option<&bool>,
) -> String {
    if let Language::External { .. } = language {
        return format!("\n{}", external(language, source));
    }
    let security = definer.map_or_else(String::new, |is_definer| format!("\n{}", security(*is_definer)));
    let source = match source {
        _ if is_stub => stub.to_owned(),
        Some(source) => source.to_owned(),
        None => format!("/* {MISSING} */\n{stub}"),
    };
    format!("{security}\nAS\n{source}")
}

/// Returns `EXTERNAL NAME …` of a routine or trigger in another language.
pub(super) fn external(language: &Language, source: Option<&str>) -> String {
    let Language::External { engine, entry_point } = language else { return String::new() };
    let entry_point = entry_point.as_ref().map(|entry_point| format!(" NAME {}", literal(entry_point)));
    let body = source.map(|source| format!("\nAS {}", literal(source)));
    format!("EXTERNAL{} ENGINE {}{}", entry_point.unwrap_or_default(), name(engine), body.unwrap_or_default())
}

/// Some owners delete the sources of what they ship.
pub(super) const MISSING: &str = "the database does not have the source";

const OF_PROCEDURES: &str = "SELECT P.RDB$PROCEDURE_NAME, P.RDB$SQL_SECURITY FROM RDB$PROCEDURES P \
     WHERE P.RDB$PACKAGE_NAME IS NULL AND P.RDB$SQL_SECURITY IS NOT NULL AND {only}";

const OF_FUNCTIONS: &str = "SELECT P.RDB$FUNCTION_NAME, P.RDB$SQL_SECURITY FROM RDB$FUNCTIONS P \
     WHERE P.RDB$PACKAGE_NAME IS NULL AND P.RDB$SQL_SECURITY IS NOT NULL AND {only}";
