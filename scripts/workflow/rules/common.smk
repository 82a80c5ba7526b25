# The configuration, checked, and the words that the rules make of it. No rules here.
import importlib.util
import json
import os
import re
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

WORKFLOW = Path(str(workflow.current_basedir)).parent
REPOSITORY = os.path.realpath(WORKFLOW.parent.parent)


def neighbour(name):
    """A Python file beside the Snakefile, as a module; under a name that no other workflow's module has."""
    specification = importlib.util.spec_from_file_location(
        f"bigbird_workflow_{name}", WORKFLOW / f"{name}.py"
    )
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    return loaded


settings, costs = neighbour("settings"), neighbour("costs")
commands, damage = neighbour("commands"), neighbour("damage")

try:
    config = settings.checked(config, WORKFLOW, REPOSITORY)
except settings.ConfigurationError as error:
    raise WorkflowError(str(error))


# Commands in which something is random.
SEEDED = {
    "build-documents",
    "build-held-out-documents",
    "train-tokenizer",
    "pretrain",
    "evaluate-mlm",
    "build-promoters",
    "finetune-promoter",
    "finetune-chromatin",
    "evaluate-promoter",
    "evaluate-chromatin",
}


def place(path):
    """A path of the configuration, absolute, so that a module's prefix leaves it alone; {repository} is the clone."""
    return os.path.abspath(
        os.path.expanduser(str(path).replace("{repository}", REPOSITORY))
    )


def listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def files(*keys):
    """The files under these keys of the configuration, as a list; none where a key is absent."""
    value = config
    for key in keys:
        value = (value or {}).get(key)
    return [place(path) for path in listed(value)]


def as_option(name, value):
    """One option of a command line; nothing for null. The program knows which options are flags."""
    if isinstance(value, bool):
        return f"--{name}={str(value).lower()}"
    if value is None:
        return ""
    words = [
        shlex.quote(str(item).replace("{repository}", REPOSITORY))
        for item in listed(value)
    ]
    return (
        f"--{name}={words[0]}" if len(words) == 1 else " ".join([f"--{name}", *words])
    )


def words_of(chosen):
    """Options as they stand on a command line."""
    return " ".join(filter(None, (as_option(*item) for item in chosen.items())))


def options(command):
    """The configuration's options of a command."""
    chosen = {"seed": config["seed"]} if command in SEEDED else {}
    chosen.update(config["options"].get(command, {}))
    return words_of(chosen)


def reference_files(entries):
    """The FASTA files of a reference, whose entries may be NAME=FASTA."""
    return [place(entry.rpartition("=")[2]) for entry in listed(entries)]


def reference_words(entries):
    """A reference as it stands behind --reference."""
    words = (entry.rpartition("=") for entry in listed(entries))
    return " ".join(
        shlex.quote(f"{name}{sign}{place(path)}") for name, sign, path in words
    )


def folder_of(weights):
    return os.path.dirname(str(weights))


deployment = getattr(workflow, "deployment_settings", None)
DEPLOYED = bool(deployment and deployment.deployment_method)


def program():
    """A container and a conda environment have the program on their PATH; else it is the clone's own.

    The configuration may name a path, or a whole command such as `apptainer exec image.sif bigbird-dna`. A word
    with blanks is a path where it leads to a file. Paths come quoted, as the shell takes them.
    """
    word = config.get("program")
    if not word:
        built = f"{REPOSITORY}/build/bin/bigbird-dna"
        return "bigbird-dna" if DEPLOYED else shlex.quote(built)
    is_path = os.sep in word and (" " not in word or os.path.isfile(place(word)))
    return shlex.quote(place(word)) if is_path else word


PROGRAM = program()
CONTAINER = config["container"].replace("{repository}", REPOSITORY)
ENVIRONMENT = place(config["environment"]) if "environment" in config else None
THREADS = config["threads"]
DEVICE = f"--device {config['device']}"
GPU = 0 if config["device"] == "cpu" else 1
REFERENCE = reference_files(config.get("reference"))
# Regions that nothing is trained on, and those that follow the training; contigs or contig:first-last.
HOLD_OUTS = " ".join(
    as_option(name, config[name]) for name in ("validation", "test") if config[name]
)
TASKS = settings.tasks(config)
PRETRAINING = settings.pretrains(config)
PREDICTIONS = settings.predictions(config)
# Those that the configuration asks for; the others serve evaluations.
WANTED = settings.wanted(PREDICTIONS)


def weights(model):
    """The file of weights that a model of the configuration stands for: pretrained, a task, TASK/BASELINE, trained/NAME, or a path."""
    if model == "pretrained":
        if "pretrained" not in config:
            return "pretrained/model/model.safetensors"
        model = config["pretrained"]
    task, *baseline = Path(model).parts
    if task in TASKS and not baseline:
        return f"{task}/run/model/model.safetensors"
    if task in TASKS and baseline[0] in (config[task].get("baselines") or {}):
        return f"{task}/baselines/{baseline[0]}/run/model/model.safetensors"
    if task == "trained" and baseline and baseline[0] in config["train"]:
        return f"trained/{baseline[0]}/model/model.safetensors"
    of_run = f"{place(model)}/model/model.safetensors"
    return of_run if os.path.exists(of_run) else f"{place(model)}/model.safetensors"


def final_file(name):
    """What one prediction of the configuration ends in: a file, or for tracks a folder."""
    wanted = PREDICTIONS[name]
    return name if wanted["kind"] == "tracks" else f"{name}.{wanted['format']}"


def names_of(*kinds):
    """Regular expression of the predictions of some kinds, for a rule's wildcard."""
    names = [
        re.escape(name) for name in PREDICTIONS if PREDICTIONS[name]["kind"] in kinds
    ]
    return "|".join(names) or "(?!)"


# What was changed behind Snakemake's back is made again. A job's own processes need not look, and what only looks changes nothing.
ONLY_LOOKS = re.compile(
    r"-[a-zA-Z]*n[a-zA-Z]*|--(dry-?run|lint|report|summary|detailed-summary|dag|rulegraph|filegraph|unlock|list.*)(=.*)?"
)

if workflow.is_main_process and not any(map(ONLY_LOOKS.fullmatch, sys.argv[1:])):
    for path in damage.set_aside(
        [str(workflow.modifier.modify_path(final_file(name))) for name in PREDICTIONS],
        str(workflow.modifier.modify_path("parts")),
    ):
        logger.warning(f"{path} is not what it was when it was made; it is made again.")
