# Vectors of BED rows; of .npy, the rows' fields and the names of the columns stand beside it.


def side_files(wildcards, output):
    name = os.path.basename(str(output.scores)).removesuffix("." + wildcards.format)
    beside = [f"{name}.rows.tsv", f"{name}.labels.tsv"] if wildcards.format == "npy" else []
    return " ".join([os.path.basename(output.scores), *beside])


use rule predict_part as embeddings_part with:
    wildcard_constraints:
        name=names_of("embeddings"),


use rule gather as gather_embeddings with:
    wildcard_constraints:
        name=names_of("embeddings"),
    params:
        program=PROGRAM,
        stem=lambda wildcards, output: str(output.scores).removesuffix("." + wildcards.format),
        records=side_files,
