# Documents, tokenizer, the language model, and how well it knows held-out sequence.


# As BED; a whole contig ends beyond any.
rule held_out_regions:
    output:
        test="held_out/test.bed",
        all="held_out/all.bed",
    log:
        "logs/held-out-regions.log",
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: 1
    params:
        test="\n".join(config["test"]),
        validation="\n".join(config["validation"]),
    shell:
        # contig:first-last counts from 1, both ends included
        r"bed() {{ tr -d , | sed -nE 's/^(.+):([0-9]+)-([0-9]+)$/\1 \2 \3/p; t; s/^.+$/& 1 1000000000/p' |"
        r" awk -v OFS='\t' '{{ print $1, $2 - 1, $3 }}'; }};"
        r" printf '%s\n' '{params.test}' 2> {log} | bed > {output.test} 2>> {log};"
        r" printf '%s\n' '{params.test}' '{params.validation}' | bed > {output.all} 2>> {log}"


rule build_documents:
    input:
        reference=REFERENCE,
        held_out="held_out/all.bed",
    output:
        "documents/train.txt.gz",
    log:
        "logs/build-documents.log",
    benchmark:
        "benchmarks/build-documents.tsv"
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    params:
        program=PROGRAM,
        reference=lambda wildcards: reference_words(config.get("reference")),
        part="--exclude",
        options=options("build-documents"),
    shell:
        "{params.program} build-documents --reference {params.reference} {params.part} {input.held_out} {params.options}"
        " --threads {threads} --output {output} > {log} 2>&1"


use rule build_documents as build_held_out_documents with:
    input:
        reference=REFERENCE,
        held_out="held_out/test.bed",
    output:
        "documents/held_out.txt.gz",
    log:
        "logs/build-held-out-documents.log",
    benchmark:
        "benchmarks/build-held-out-documents.tsv"
    params:
        program=PROGRAM,
        reference=lambda wildcards: reference_words(config.get("reference")),
        part="--include",
        options=options("build-held-out-documents"),


rule train_tokenizer:
    input:
        "documents/train.txt.gz",
    output:
        model="tokenizer/tokenizer.model",
        vocabulary="tokenizer/tokenizer.vocab",
    log:
        "logs/train-tokenizer.log",
    benchmark:
        "benchmarks/train-tokenizer.tsv"
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    params:
        program=PROGRAM,
        options=options("train-tokenizer"),
    shell:
        "{params.program} train-tokenizer --documents {input} {params.options}"
        " --threads {threads} --output {output.model} > {log} 2>&1"


NODES = config["nodes"]
# Processes of pretraining over all nodes. One node needs no srun: `options: {pretrain: {processes: N}}` does there.
TASKS_OF_SRUN = NODES * config["tasks_per_node"]
PROCESSES = config["options"].get("pretrain", {}).get("processes", 1)


# The Slurm executor runs a rule with `mpi` in the allocation itself, not in a step of one task.
SRUN = (
    {"mpi": "srun", "nodes": NODES, "tasks": TASKS_OF_SRUN, "tasks_per_gpu": 0}
    if TASKS_OF_SRUN > 1
    else {}
)


# Checkpoints in the run folder outlive a failed or killed job: the next one goes on from the newest.
rule pretrain:
    input:
        documents="documents/train.txt.gz",
        tokenizer="tokenizer/tokenizer.model",
    output:
        "pretrained/model/config.json",
        "pretrained/model/model.safetensors",
        "pretrained/model/tokenizer.model",
    log:
        "logs/pretrain.log",
    benchmark:
        "benchmarks/pretrain.tsv"
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    resources:
        **SRUN,
        gpu=GPU * max(TASKS_OF_SRUN, PROCESSES),
        mem_mb=lambda wildcards, attempt: costs.pretraining_mb(
            config["options"].get("pretrain", {}).get("config", "base"), attempt
        ),
        runtime=lambda wildcards, attempt: costs.training_minutes(
            config["options"].get("pretrain", {}), attempt
        ),
    params:
        program=PROGRAM,
        options=options("pretrain"),
        run=run_of,
        launcher=launcher,
    shell:
        commands.resumable("{input}")
        + "{params.launcher}{params.program} pretrain --documents {input.documents} --tokenizer {input.tokenizer}"
        " {params.options} "
        + DEVICE
        + " --threads {threads} --output {params.run} > {log} 2>&1"


rule evaluate_mlm:
    input:
        model="pretrained/model/model.safetensors",
        documents="documents/held_out.txt.gz",
        training="documents/train.txt.gz",
    output:
        "held_out/mlm.json",
    log:
        "logs/evaluate-mlm.log",
    benchmark:
        "benchmarks/evaluate-mlm.tsv"
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    resources:
        gpu=GPU,
    params:
        program=PROGRAM,
        model=lambda wildcards, input: folder_of(input.model),
        options=options("evaluate-mlm"),
    shell:
        "{params.program} evaluate-mlm --model {params.model} --documents {input.documents}"
        " --baseline-documents {input.training} {params.options} "
        + DEVICE
        + " --threads {threads} --output {output} > {log} 2>&1"
