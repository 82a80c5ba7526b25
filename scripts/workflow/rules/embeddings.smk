# Vectors of BED rows; of .npy, the rows' fields and the names of the columns stand beside it.


use rule predict_part as embeddings_part with:
    wildcard_constraints:
        name=names_of("embeddings"),


use rule gather as gather_embeddings with:
    wildcard_constraints:
        name=names_of("embeddings"),
    params:
        program=PROGRAM,
        parts=glob_of_parts,
        stem=lambda wildcards, output: str(output.scores).removesuffix(
            f".{wildcards.format}"
        ),
        records=side_files,
