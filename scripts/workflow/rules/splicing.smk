# Splice scores of VCFs, in parts: splicing/NAME.vcf.gz has all records of the input, in order.


rule splicing_part:
    input:
        model=lambda wildcards: files("splicing", wildcards.name, "model"),
        reference=lambda wildcards: reference_files(
            config["splicing"][wildcards.name].get(
                "reference", config.get("reference")
            )
        ),
        annotation=lambda wildcards: files("splicing", wildcards.name, "annotation"),
        variants=lambda wildcards: files("splicing", wildcards.name, "input"),
    output:
        scores=temp("splicing/{name}.parts/{part}-of-{parts}.vcf.gz"),
        record=temp("splicing/{name}.parts/{part}-of-{parts}.vcf.gz.part.json"),
    log:
        "logs/splicing/{name}.{part}-of-{parts}.log",
    benchmark:
        "benchmarks/splicing/{name}.{part}-of-{parts}.tsv"
    wildcard_constraints:
        name=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    resources:
        mem_mb=1500,
    params:
        program=PROGRAM,
        options=lambda wildcards: words_of(
            config["splicing"][wildcards.name].get("options") or {}
        ),
    shell:
        "{params.program} predict-splicing --model {input.model} --reference {input.reference}"
        " --annotation {input.annotation} --variants {input.variants} {params.options}"
        " --shard {wildcards.part}/{wildcards.parts} --threads {threads} --output {output.scores} --force > {log} 2>&1"


rule splicing:
    input:
        lambda wildcards: [
            f"splicing/{wildcards.name}.parts/{part}-of-{parts}.vcf.gz{ending}"
            for parts in [config["splicing"][wildcards.name].get("parts", 1)]
            for ending in ("", ".part.json")
            for part in range(1, parts + 1)
        ],
    output:
        "splicing/{name}.vcf.gz",
    log:
        "logs/splicing/{name}.log",
    wildcard_constraints:
        name=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: 1
    params:
        program=PROGRAM,
        parts=lambda wildcards, input: input[: len(input) // 2],
    shell:
        "{params.program} merge {params.parts} --output {output} --force > {log} 2>&1"
