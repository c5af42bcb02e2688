"""Papers that metrics come from, each said once: the text `source` of a card and BibTeX entries are made of these."""

from __future__ import annotations

from fastir.declared import Record

FIELDS = {"inproceedings": "booktitle", "article": "journal", "misc": "howpublished"}


class Reference(Record):
    """A paper.

    Attributes
    ----------
    authors : tuple of str
        As "first names, family name": "C. J.", "van Rijsbergen" is ``"van Rijsbergen, C. J."``.
    title : str
    year : int
    venue : str
        The journal, the proceedings, or another source.
    doi : str
        Without the address of the resolver.
    volume, number, pages : str
        May be empty.
    kind : {"inproceedings", "article", "misc"}
        BibTeX's type of entry.
    """

    authors: tuple[str, ...]
    title: str
    year: int
    venue: str
    doi: str
    volume: str = ""
    number: str = ""
    pages: str = ""
    kind: str = "inproceedings"

    def families(self) -> list[str]:
        return [author.partition(",")[0] for author in self.authors]

    def __str__(self) -> str:
        """Authors and year, as in "Moffat and Zobel 2008"."""
        first, *others = self.families()
        named = f"{first} et al." if len(others) > 1 else " and ".join([first, *others])
        return f"{named} {self.year}"

    @property
    def url(self) -> str:
        return f"https://doi.org/{self.doi}"

    def bibtex(self) -> str:
        """The entry; its key is the first author's family name, the year and the first word of the title."""
        import unicodedata

        words = f"{self.families()[0]}{self.year}{self.title.split()[0]}".lower()
        letters = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
        key = "".join(letter for letter in letters if letter.isalnum())
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",  # a second pair of braces keeps the capitals
            FIELDS[self.kind]: self.venue,
            "volume": self.volume,
            "number": self.number,
            "pages": self.pages.replace("-", "--"),
            "year": str(self.year),
            "doi": self.doi,
        }
        lines = [f"  {name:<9} = {{{text}}},\n" for name, text in fields.items() if text]
        return f"@{self.kind}{{{key},\n{''.join(lines)}}}\n"


def read_papers(text: str) -> dict[str, Reference]:
    """References by name, from lines of "name: authors | title | year | venue | DOI | field=value ..."."""
    papers = {}
    for line in text.replace("\n    ", " ").splitlines():
        name, _, fields = line.partition(": ")
        authors, title, year, venue, doi, *others = fields.split(" | ")
        more = dict(field.split("=") for field in others)
        papers[name] = Reference(tuple(authors.split("; ")), title, int(year), venue, doi, **more)
    return papers


# The papers of metrics; each name is a variable of this module.
globals().update(
    read_papers("""\
AGRAWAL_2009: Agrawal, Rakesh; Gollapudi, Sreenivas; Halverson, Alan; Ieong, Samuel | Diversifying Search Results | 2009
    | WSDM | 10.1145/1498759.1498766 | pages=5-14
AMIGO_2018: Amigó, Enrique; Spina, Damiano; Carrillo-de-Albornoz, Jorge | An Axiomatic Analysis of Diversity Evaluation
    Metrics: Introducing the Rank-Biased Utility Metric | 2018 | SIGIR | 10.1145/3209978.3210024 | pages=625-634
ASLAM_2006: Aslam, Javed A.; Pavlu, Virgil; Yilmaz, Emine | A Statistical Method for System Evaluation Using Incomplete
    Judgments | 2006 | SIGIR | 10.1145/1148170.1148263 | pages=541-548
AZZOPARDI_2021: Azzopardi, Leif; Mackenzie, Joel; Moffat, Alistair | ERR is not C/W/L: Exploring the Relationship
    Between Expected Reciprocal Rank and Other Metrics | 2021 | ICTIR | 10.1145/3471158.3472239 | pages=231-237
BERRENDORF_2020: Berrendorf, Max; Faerman, Evgeniy; Vermue, Laurent; Tresp, Volker | On the Ambiguity of Rank-Based
    Evaluation of Entity Alignment or Link Prediction Methods | 2020 | arXiv:2002.06914 | 10.48550/arXiv.2002.06914 |
    kind=misc
BUCKLEY_2000: Buckley, Chris; Voorhees, Ellen M. | Evaluating Evaluation Measure Stability | 2000 | SIGIR |
    10.1145/345508.345543 | pages=33-40
BUCKLEY_2004: Buckley, Chris; Voorhees, Ellen M. | Retrieval Evaluation with Incomplete Information | 2004 | SIGIR |
    10.1145/1008992.1009000 | pages=25-32
BURGES_2005: Burges, Chris; Shaked, Tal; Renshaw, Erin; Lazier, Ari; Deeds, Matt; Hamilton, Nicole; Hullender, Greg |
    Learning to Rank using Gradient Descent | 2005 | ICML | 10.1145/1102351.1102363 | pages=89-96
CHAPELLE_2009: Chapelle, Olivier; Metzler, Donald; Zhang, Ya; Grinspan, Pierre | Expected Reciprocal Rank for Graded
    Relevance | 2009 | CIKM | 10.1145/1645953.1646033 | pages=621-630
CLARKE_2008: Clarke, Charles L. A.; Kolla, Maheedhar; Cormack, Gordon V.; Vechtomova, Olga; Ashkan, Azin; Büttcher,
    Stefan; MacKinnon, Ian | Novelty and Diversity in Information Retrieval Evaluation | 2008 | SIGIR |
    10.1145/1390334.1390446 | pages=659-666
CLARKE_2009: Clarke, Charles L. A.; Kolla, Maheedhar; Vechtomova, Olga | An Effectiveness Measure for Ambiguous and
    Underspecified Queries | 2009 | ICTIR | 10.1007/978-3-642-04417-5_17 | pages=188-199
CLARKE_2020: Clarke, Charles L. A.; Vtyurina, Alexandra; Smucker, Mark D. | Offline Evaluation without Gain | 2020 |
    ICTIR | 10.1145/3409256.3409816
COHEN_2006: Cohen, Aaron M.; Hersh, William R.; Peterson, Kim; Yen, Po-Yin | Reducing Workload in Systematic Review
    Preparation Using Automated Citation Classification | 2006 | Journal of the American Medical Informatics Association
    | 10.1197/jamia.M1929 | volume=13 | number=2 | pages=206-219 | kind=article
CORMACK_2015: Cormack, Gordon V.; Grossman, Maura R. | Multi-Faceted Recall of Continuous Active Learning for
    Technology-Assisted Review | 2015 | SIGIR | 10.1145/2766462.2767771 | pages=763-766
HANLEY_1982: Hanley, James A.; McNeil, Barbara J. | The Meaning and Use of the Area under a Receiver Operating
    Characteristic (ROC) Curve | 1982 | Radiology | 10.1148/radiology.143.1.7063747 | volume=143 | number=1 |
    pages=29-36 | kind=article
HOYT_2022: Hoyt, Charles Tapley; Berrendorf, Max; Galkin, Mikhail; Tresp, Volker; Gyori, Benjamin M. | A Unified
    Framework for Rank-based Evaluation Metrics for Link Prediction in Knowledge Graphs | 2022 | arXiv:2203.07544 |
    10.48550/arXiv.2203.07544 | kind=misc
JAIN_2016: Jain, Himanshu; Prabhu, Yashoteja; Varma, Manik | Extreme Multi-label Loss Functions for Recommendation,
    Tagging, Ranking & Other Missing Label Applications | 2016 | KDD | 10.1145/2939672.2939756 | pages=935-944
JARVELIN_2002: Järvelin, Kalervo; Kekäläinen, Jaana | Cumulated Gain-Based Evaluation of IR Techniques | 2002 | ACM
    Transactions on Information Systems | 10.1145/582415.582418 | volume=20 | number=4 | pages=422-446 | kind=article
KANTOR_2000: Kantor, Paul B.; Voorhees, Ellen M. | The TREC-5 Confusion Track: Comparing Retrieval Methods for Scanned
    Text | 2000 | Information Retrieval | 10.1023/A:1009902609570 | volume=2 | number=2/3 | pages=165-176 | kind=article
LIN_2015: Lin, Yankai; Liu, Zhiyuan; Sun, Maosong; Liu, Yang; Zhu, Xuan | Learning Entity and Relation Embeddings for
    Knowledge Graph Completion | 2015 | AAAI | 10.1609/aaai.v29i1.9491
MOFFAT_2008: Moffat, Alistair; Zobel, Justin | Rank-Biased Precision for Measurement of Retrieval Effectiveness | 2008 |
    ACM Transactions on Information Systems | 10.1145/1416950.1416952 | volume=27 | number=1 | pages=2:1-2:27 |
    kind=article
MOFFAT_2012: Moffat, Alistair; Scholer, Falk; Thomas, Paul | Models and Metrics: IR Evaluation as a User Process | 2012
    | ADCS | 10.1145/2407085.2407092 | pages=47-54
MOFFAT_2015: Moffat, Alistair; Bailey, Peter; Scholer, Falk; Thomas, Paul | INST: An Adaptive Metric for Information
    Retrieval Evaluation | 2015 | ADCS | 10.1145/2838931.2838938
MUSGRAVE_2020: Musgrave, Kevin; Belongie, Serge; Lim, Ser-Nam | A Metric Learning Reality Check | 2020 | ECCV |
    10.1007/978-3-030-58595-2_41 | pages=681-699
PETRONI_2021: Petroni, Fabio; Piktus, Aleksandra; Fan, Angela; Lewis, Patrick; Yazdani, Majid; De Cao, Nicola; Thorne,
    James; Jernite, Yacine; Karpukhin, Vladimir; Maillard, Jean; Plachouras, Vassilis; Rocktäschel, Tim; Riedel,
    Sebastian | KILT: a Benchmark for Knowledge Intensive Language Tasks | 2021 | NAACL |
    10.18653/v1/2021.naacl-main.200
RAJPURKAR_2018: Rajpurkar, Pranav; Jia, Robin; Liang, Percy | Know What You Don't Know: Unanswerable Questions for SQuAD
    | 2018 | ACL | 10.18653/v1/P18-2124 | pages=784-789
RIJSBERGEN_1974: van Rijsbergen, C. J. | Foundation of Evaluation | 1974 | Journal of Documentation | 10.1108/eb026584 |
    volume=30 | number=4 | pages=365-373 | kind=article
ROBERTSON_2006: Robertson, Stephen | On GMAP: and Other Transformations | 2006 | CIKM | 10.1145/1183614.1183630 |
    pages=78-83
SAKAI_2007: Sakai, Tetsuya | On the Reliability of Information Retrieval Metrics Based on Graded Relevance | 2007 |
    Information Processing & Management | 10.1016/j.ipm.2006.07.020 | volume=43 | number=2 | pages=531-548 |
    kind=article
SAKAI_2019: Sakai, Tetsuya; Zeng, Zhaohao | Which Diversity Evaluation Measures Are “Good”? | 2019 | SIGIR |
    10.1145/3331184.3331215 | pages=595-604
SAKAI_2013: Sakai, Tetsuya; Dou, Zhicheng | Summaries, Ranked Retrieval and Sessions: A Unified Framework for
    Information Access Evaluation | 2013 | SIGIR | 10.1145/2484028.2484031
SAPIEZYNSKI_2019: Sapiezynski, Piotr; Zeng, Wesley; Robertson, Ronald E.; Mislove, Alan; Wilson, Christo | Quantifying
    the Impact of User Attention on Fair Group Representation in Ranked Lists | 2019 | WWW Companion |
    10.1145/3308560.3317595 | pages=553-562
SMUCKER_2012: Smucker, Mark D.; Clarke, Charles L. A. | Time-Based Calibration of Effectiveness Measures | 2012 | SIGIR
    | 10.1145/2348283.2348300
TSOUMAKAS_2010: Tsoumakas, Grigorios; Katakis, Ioannis; Vlahavas, Ioannis | Mining Multi-label Data | 2010 | Data Mining
    and Knowledge Discovery Handbook | 10.1007/978-0-387-09823-4_34 | pages=667-685
WU_2025: Wu, Di; Wang, Hongwei; Yu, Wenhao; Zhang, Yuwei; Chang, Kai-Wei; Yu, Dong | LongMemEval: Benchmarking Chat
    Assistants on Long-Term Interactive Memory | 2025 | ICLR | 10.48550/arXiv.2410.10813
YANG_2018: Yang, Longqi; Cui, Yin; Xuan, Yuan; Wang, Chenyang; Belongie, Serge; Estrin, Deborah | Unbiased Offline
    Recommender Evaluation for Missing-Not-At-Random Implicit Feedback | 2018 | RecSys | 10.1145/3240323.3240355 |
    pages=279-287
YILMAZ_2006: Yilmaz, Emine; Aslam, Javed A. | Estimating Average Precision with Incomplete and Imperfect Judgments |
    2006 | CIKM | 10.1145/1183614.1183633 | pages=102-111
YILMAZ_2008: Yilmaz, Emine; Kanoulas, Evangelos; Aslam, Javed A. | A Simple and Efficient Sampling Method for Estimating
    AP and NDCG | 2008 | SIGIR | 10.1145/1390334.1390437 | pages=603-610
ZHAI_2003: Zhai, ChengXiang; Cohen, William W.; Lafferty, John | Beyond Independent Relevance: Methods and Evaluation
    Metrics for Subtopic Retrieval | 2003 | SIGIR | 10.1145/860435.860440 | pages=10-17
ZHANG_2017: Zhang, Fan; Liu, Yiqun; Li, Xin; Zhang, Min; Xu, Yinghui; Ma, Shaoping | Evaluating Web Search with a
    Bejeweled Player Model | 2017 | SIGIR | 10.1145/3077136.3080841 | pages=425-434
""")
)

# The papers of programs, by their names in `sources`; trec_eval has no paper of its own.
PROGRAMS = read_papers("""\
trec_eval: Van Gysel, Christophe; de Rijke, Maarten | Pytrec_eval: An Extremely Fast Python Interface to trec_eval |
    2018 | SIGIR | 10.1145/3209978.3210065 | pages=873-876
ranx: Bassani, Elias | ranx: A Blazing-Fast Python Library for Ranking Evaluation and Comparison | 2022 | ECIR |
    10.1007/978-3-030-99739-7_30 | pages=259-264
ir_measures: MacAvaney, Sean; Macdonald, Craig; Ounis, Iadh | Streamlining Evaluation with ir-measures | 2022 | ECIR |
    10.1007/978-3-030-99739-7_38 | pages=305-310
BEIR: Thakur, Nandan; Reimers, Nils; Rücklé, Andreas; Srivastava, Abhishek; Gurevych, Iryna | BEIR: A Heterogeneous
    Benchmark for Zero-shot Evaluation of Information Retrieval Models | 2021 | arXiv:2104.08663 |
    10.48550/arXiv.2104.08663 | kind=misc
cwl_eval: Azzopardi, Leif; Thomas, Paul; Moffat, Alistair | cwl_eval: An Evaluation Tool for Information Retrieval |
    2019 | SIGIR | 10.1145/3331184.3331398 | pages=1321-1324
CatBoost: Prokhorenkova, Liudmila; Gusev, Gleb; Vorobev, Aleksandr; Dorogush, Anna Veronika; Gulin, Andrey | CatBoost:
    Unbiased Boosting with Categorical Features | 2018 | NeurIPS | 10.48550/arXiv.1706.09516
TF-Ranking: Pasumarthi, Rama Kumar; Bruch, Sebastian; Wang, Xuanhui; Li, Cheng; Bendersky, Michael | TF-Ranking:
    Scalable TensorFlow Library for Learning-to-Rank | 2019 | KDD | 10.1145/3292500.3330677
tar_eval: Goeuriot, Lorraine; Kelly, Liadh; Suominen, Hanna; Névéol, Aurélie; Robert, Aude | CLEF 2017 eHealth
    Evaluation Lab Overview | 2017 | CLEF | 10.1007/978-3-319-65813-1_26 | pages=291-303
""")
