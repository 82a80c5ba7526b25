# SPDX-License-Identifier: Apache-2.0
"""The configuration of the workflow: checked against config.schema.yaml, with defaults, and as a table of predictions.

An unknown or misspelt key is an error that names it, before anything runs. Names of options are checked, too, by docs/commands.md.
"""
import csv
import difflib
import re
from pathlib import Path

import jsonschema
import yaml

# What serves each kind of prediction, and the ending of its file.
COMMANDS = {"promoter": "predict-promoter", "chromatin": "predict-chromatin", "tracks": "predict-chromatin",
            "variants": "predict-variants", "embeddings": "embed"}
FORMATS = {"promoter": "tsv.gz", "chromatin": "tsv.gz", "tracks": "bw", "variants": "tsv.gz", "embeddings": "npy"}
# Names that stand for the same command with other options.
ALIASES = {"build-held-out-documents": "build-documents"}


class ConfigurationError(Exception):
    """One sentence that says what is wrong with the configuration."""


def checked(config, workflow, repository):
    """The configuration with its sample sheet and its defaults. Throws ConfigurationError."""
    if not config:
        raise ConfigurationError("no configuration: add --configfile scripts/workflow/config/demo.yaml, or your own")
    schema = yaml.safe_load((workflow / "config.schema.yaml").read_text())
    config = with_samples(dict(config), repository)
    explain(next(iter(jsonschema.Draft7Validator(schema).iter_errors(config)), None))
    for key, rule in schema["properties"].items():
        if "default" in rule:
            config.setdefault(key, rule["default"])
    config["options"] = {name: value or {} for name, value in config["options"].items()}
    check_options(config, Path(repository) / "docs/commands.md")
    if config["train"] and not config.get("reference"):
        raise ConfigurationError("configuration: train needs the key 'reference'")
    for task in tasks(config):
        for key in ("reference", "test"):
            if not config.get(key):
                raise ConfigurationError(f"configuration: {task} needs the key '{key}'")
    return config


def tasks(config):
    return [task for task in ("promoter", "chromatin") if task in config]


def needs_pretrained(config, task):
    return config["options"].get(f"finetune-{task}", {}).get("architecture", "bigbird") == "bigbird"


def pretrains(config):
    """Is a model pretrained here: by wish, for a task, or for a prediction? Without a model that is given, and with data to train on."""
    if "pretrained" in config or not (config.get("reference") and config["test"]):
        return False
    asked = any("pretrained" in wanted["models"] for wanted in predictions(config).values())
    return asked or "pretrain" in config["options"] or any(needs_pretrained(config, task) for task in tasks(config))


def guess(word, known):
    near = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(sorted(known))}"


def explain(error):
    if error is None:
        return
    place = "configuration" + "".join(f", {part}" for part in error.absolute_path)
    known = error.schema.get("properties", {})
    unknown = [key for key in error.instance if key not in known] if error.validator == "additionalProperties" else []
    if "propertyNames" in error.schema_path and error.validator == "enum":
        unknown, known = [error.instance], error.validator_value
    if unknown:
        raise ConfigurationError(f"{place}: unknown key '{unknown[0]}'{guess(str(unknown[0]), known)}")
    raise ConfigurationError(f"{place}: {error.message}")


def documented_options(file):
    """Each command's options, by docs/commands.md; nothing where the file is not there."""
    found, shared, command = {}, set(), None
    for line in file.read_text().splitlines() if file.exists() else []:
        if line.startswith("## "):
            command = shared if line == "## Options of every command" else None
        elif line.startswith("### "):
            command = found.setdefault(line[4:].strip(), set())
        elif command is not None and line.startswith("| `"):
            command.update(re.findall(r"`--([a-z0-9-]+)`", line.split("|")[1]))
        elif command is not None and (alias := re.match(r"Options: those of \[([a-z-]+)\]", line)):
            command.update(found[alias[1]] - set(re.findall(r"`--([a-z0-9-]+)`", line)))
    return {name: options | shared for name, options in found.items()}


def check_options(config, reference):
    known = documented_options(reference)
    for place, command, options in every_option(config):
        allowed = known.get(ALIASES.get(command, command))
        for name in options if allowed else []:
            if name not in allowed:
                raise ConfigurationError(f"configuration, {place}: {command} has no option --{name}{guess(name, allowed)}")


def every_option(config):
    """Where options stand, whose they are, and their names."""
    for command, options in config["options"].items():
        yield f"options, {command}", command, options
    for task in ("promoter", "chromatin"):
        for name, options in (config.get(task, {}).get("baselines") or {}).items():
            yield f"{task}, baselines, {name}", f"finetune-{task}", options or {}
    for name, wanted in config["train"].items():
        yield f"train, {name}", "train", wanted.get("options") or {}
    for name, wanted in config["splicing"].items():
        yield f"splicing, {name}", "predict-splicing", wanted.get("options") or {}
    for name, wanted in (config.get("predictions") or {}).items():
        yield f"predictions, {name}", command_of(wanted), wanted.get("options") or {}


def with_samples(config, repository):
    """The rows of the sample sheet become predictions."""
    sheet = config.get("samples")
    if not isinstance(sheet, str):
        return config
    file = Path(sheet.replace("{repository}", str(repository)))
    if not file.exists():
        raise ConfigurationError(f"configuration, samples: {file} does not exist")
    wanted = dict(config.get("predictions") or {})
    with file.open(newline="") as lines:
        rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    for row in rows:
        name = row.pop("name", None)
        if not name:
            raise ConfigurationError(f"{file}: a row has no name; its columns must begin with name, kind, model")
        if name in wanted:
            raise ConfigurationError(f"{file}: '{name}' is there twice, or in predictions, too")
        wanted[name] = {key: cell(key, value) for key, value in row.items() if value}
    config["predictions"] = wanted
    return config


def cell(key, text):
    """A cell of the sheet: numbers of parts; lists of models and FASTA files, separated by commas."""
    if key == "parts" and text.isdigit():
        return int(text)
    return text.split(",") if key in ("model", "reference") and "," in text else text


def command_of(wanted):
    if wanted["kind"] == "tracks" and wanted.get("model") == "promoter":
        return "predict-promoter"
    return COMMANDS[wanted["kind"]]


def predictions(config):
    """Every prediction by the stem of its output: those of the tasks, the baselines and the configuration."""
    table = {}
    for task in tasks(config):
        table.update(task_predictions(config, task))
    for name, wanted in config["predictions"].items():
        table[f"predictions/{name}"] = completed(wanted, config)
    return table


def task_predictions(config, task):
    held_out = {"kind": task, "model": task, "examples": task}
    table = {f"{task}/held_out": completed(held_out, config)}
    for name in config[task].get("baselines") or {}:
        table[f"{task}/baselines/{name}/held_out"] = completed({**held_out, "model": f"{task}/{name}"}, config)
    regions = {"kind": task, "model": task, "input": config[task].get("regions")}
    return {**table, f"{task}/scores": completed(regions, config)}


def completed(wanted, config):
    kind, command = wanted["kind"], command_of(wanted)
    tiles = {"tile": 200} if kind == "tracks" and command == "predict-chromatin" else {}
    options = {**tiles, **config["options"].get(command, {}), **(wanted.get("options") or {})}
    models = wanted["model"] if isinstance(wanted["model"], list) else [wanted["model"]]
    return {"input": None, "examples": None, "parts": config["parts"], "format": FORMATS[kind], "reference": config.get("reference"),
            **wanted, "command": command, "options": options, "models": models}


def wanted(table):
    """The predictions that the configuration asks for; the others serve evaluations."""
    return [name for name in table if not name.endswith("/held_out")]
