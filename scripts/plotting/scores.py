# SPDX-License-Identifier: Apache-2.0
"""bigbird-dna-plot scores --scores [NAME=]FILE... --region CONTIG:START-END [--labels SELECTION] [--peaks [LABEL=]FILE...] [--genes BED]
                        [--ymax NUMBER | --free-scale] [--unit TEXT] [--title TEXT] [--width PIXELS] [--force] --output FILE...

Draws a region of the genome: one track per label, with its predicted scores as a filled step curve and peaks as boxes beneath. Gray marks bases
without a score (NA, or no row). Where rows overlap, their mean is drawn; where several rows share a column of pixels, the largest.

--scores takes score tables (.tsv, .csv, each also .gz), HDF5 (.h5), bigWig (.bw) and bedGraph (.bedgraph, .bdg, each also .gz). NAME= before a
table or HDF5 file is the model's name; before a bigWig or bedGraph it is the label, or MODEL:LABEL (default: the file's name). Models of several
files are drawn over each other. With tabix and FILE.tbi only the region's rows are read. chr22 and 22 are the same contig.

Needs only the standard library, except: pyBigWig for bigWig, h5py for HDF5, rsvg-convert for .png, which has two pixels for each of --width.
Exit codes: 0 complete output, 2 usage, 3 bad input, 74 write failed, 70 anything else.
"""
from plotting.failure import USAGE, Failure
from plotting.inputs import MOST_TRACKS, Region, open_sources, read_curves, read_genes, read_peaks, select_labels
from plotting.picture import add_picture_options, draw


def add_options(parser):
    parser.add_argument("--scores", metavar="[NAME=]FILE", nargs="+", action="extend", required=True, help="score tables, HDF5, bigWig or bedGraph")
    parser.add_argument("--region", metavar="CONTIG:START-END", required=True, help="as for samtools: from 1, END included")
    parser.add_argument("--labels", metavar="SELECTION", default="*",
                        help=f"labels or patterns ('*CTCF*'), separated by commas, drawn in this order; {MOST_TRACKS} at most (default: all)")
    parser.add_argument("--peaks", metavar="[LABEL=]FILE", nargs="+", action="extend",
                        help="peaks (narrowPeak, BED) of a label, or of all tracks; or the sheet that build-chromatin took: name, group, path")
    parser.add_argument("--genes", metavar="BED", help="genes to draw below: BED3 to BED12, blocks as exons")
    parser.add_argument("--ymax", metavar="NUMBER", type=float, help="upper end of the y axis (default: the largest score in the region)")
    parser.add_argument("--free-scale", action="store_true", help="give each track its own y axis")
    parser.add_argument("--unit", metavar="TEXT", default="score", help="what the y axis measures (default: score)")
    parser.add_argument("--title", metavar="TEXT", default="Predicted scores", help="(default: Predicted scores)")
    add_picture_options(parser, 1000)


def svg_of(options):
    if options.ymax is not None and (options.free_scale or not 0 < options.ymax < float("inf")):
        raise Failure("--ymax must be a number above 0, without --free-scale", USAGE)
    region = Region(options.region)
    sources = open_sources(options.scores)
    labels = select_labels(options.labels, list(dict.fromkeys(label for source in sources for label in source.labels)))
    peaks = read_peaks(options.peaks, region, labels) if options.peaks else None
    genes = read_genes(options.genes, region) if options.genes else None
    curves = read_curves(sources, region, labels, options.width)
    return draw(region, options, curves, peaks, genes)
