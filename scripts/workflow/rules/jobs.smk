# What the rules' jobs read, are told and need. No rules here.


def run_of(wildcards, output):
    """The run folder of a training rule, whose outputs lie in its model/."""
    return os.path.dirname(os.path.dirname(output[0]))


def launcher(wildcards, threads):
    """srun before the command where pretraining runs on several nodes or by several tasks."""
    if TASKS_OF_SRUN == 1:
        return ""
    return (
        f"{config['srun']} --nodes={NODES} --ntasks={TASKS_OF_SRUN}"
        f" --ntasks-per-node={config['tasks_per_node']} --cpus-per-task={threads} "
    )


def pretrained_for(wildcards):
    """The pretrained model's weights; none for an architecture that starts from nothing, such as bigbird-bins."""
    return (
        weights("pretrained")
        if settings.needs_pretrained(config, wildcards.task)
        else []
    )


def trained_options(name):
    """The options of one run of train, by name."""
    return {"seed": config["seed"], **(config["train"][name].get("options") or {})}


def baselines_of(task):
    return list(config[task].get("baselines") or {}) if task in config else []


def scores_words(wildcards, input):
    """A task's scores beside those of its baselines, of which the first is what the others are compared with."""
    names = [*baselines_of(wildcards.task), "model"]
    files = [*input.baselines, input.scores]
    return " ".join(
        f"--scores {name}={file}" if len(names) > 1 else f"--scores {file}"
        for name, file in zip(names, files)
    )


def folder_of_examples(wildcards):
    task = PREDICTIONS[wildcards.name]["examples"]
    return f"{task}/examples" if task else []


def rows_file(wildcards):
    """The BED or VCF of a prediction: the configuration's, or the held-out rows of its task's examples."""
    wanted = PREDICTIONS[wildcards.name]
    if wanted["input"]:
        return place(wanted["input"])
    if wanted["examples"]:
        return []
    if wanted["models"][0] in TASKS and wanted["kind"] != "variants":
        return f"{wanted['models'][0]}/examples"
    raise WorkflowError(
        f"configuration, {wildcards.name}: input is missing, a BED or VCF file"
    )


def counted_files(wildcards, input):
    """What is counted: of examples the held-out rows, and of promoters their negatives, too."""
    promoters = PREDICTIONS[wildcards.name]["kind"] == "promoter"
    times = 2 if promoters and input.examples else 1
    return [rows_of(input.rows or input.examples)] * times


def rows_of(file):
    """A BED or VCF; of a folder of examples the held-out rows."""
    return f"{file}/test.bed" if Path(file).name == "examples" else str(file)


def size_of_rows(wildcards):
    """How much work a row of a prediction is, and how it is cut."""
    wanted = PREDICTIONS[wildcards.name]
    kind, chosen = wanted["kind"], wanted["options"]
    usual = "none" if kind == "promoter" else "average"
    strands = 2 if chosen.get("reverse-complement", usual) == "average" else 1
    rate = wanted.get("rate") or config["rates"].get(kind)
    return {
        "kind": kind,
        "tile": chosen.get("tile", 0),
        "passes": len(wanted["models"]) * strands,
        "rate": rate or costs.RATES[kind] * THREADS,
        "parts": 0 if wanted["parts"] == "auto" else wanted["parts"],
        "part_minutes": config["part_minutes"],
        "most": config["max_parts"],
    }


def all_parts(wildcards):
    plan = checkpoints.plan_prediction.get(name=wildcards.name).output[0]
    with plan.open() as file:
        count = json.load(file)["parts"]
    return [f"parts/{wildcards.name}/{part}-of-{count}" for part in range(1, count + 1)]


def minutes(wildcards, input, attempt):
    plan = json.loads(Path(input.plan).read_text())
    return costs.part_minutes(plan["seconds"], plan["parts"], attempt)


def memory(wildcards, input, threads, attempt):
    sizes = [os.path.getsize(file) for file in input.models if os.path.exists(file)]
    return costs.prediction_mb(threads, sum(sizes), attempt)


def part_words(wildcards, input, output):
    """The command of one part, but for the device, the threads and where it logs."""
    wanted = PREDICTIONS[wildcards.name]
    words = [
        wanted["command"],
        *(f"--model {folder_of(file)}" for file in input.models),
    ]
    if input.examples:
        words.append(f"--examples {input.examples} --split test")
    else:
        words.append(f"--reference {reference_words(wanted['reference'])}")
        words.append(
            as_option(
                "variants" if wanted["kind"] == "variants" else "regions",
                rows_of(input.rows),
            )
        )
    words += [as_option(*item) for item in wanted["options"].items()]
    if int(wildcards.parts) > 1:
        words.append(f"--shard {wildcards.part}/{wildcards.parts}")
        words.append(f"--output '{output}/part.tsv.gz'")
    elif wanted["kind"] == "tracks":
        words.append(f"--output '{output}/part{file_of_label(wildcards)}'")
    else:
        words.append(f"--output '{output}/part.{wanted['format']}'")
    return " ".join(filter(None, words))


def file_of_label(wildcards):
    """The name of a label's track, as --output has it."""
    return f"{{label}}.{PREDICTIONS[wildcards.name]['format']}"


def side_files(wildcards, output):
    """The files of a prediction: of .npy, the rows' fields and the names of the columns are beside it."""
    name = os.path.basename(str(output.scores)).removesuffix(f".{wildcards.format}")
    beside = (
        [f"{name}.rows.tsv", f"{name}.labels.tsv"] if wildcards.format == "npy" else []
    )
    return " ".join([os.path.basename(output.scores), *beside])


def glob_of_parts(wildcards, input):
    """All parts of a prediction in few words: there may be a thousand."""
    folder, name = os.path.split(str(input[0]))
    return f"{folder}/*-of-{name.rpartition('-')[2]}"
