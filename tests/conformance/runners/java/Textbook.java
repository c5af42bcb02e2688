// A textbook implementation, written from the files of the suite alone: binary metrics, bpref, (n)DCG, RBP and ERR.

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

final class Textbook {
    private static final double NONE = -1; // the label of a document without one

    /** The first is the default; "*" takes anything. */
    private static final Map<String, List<String>> CHOICES = new HashMap<>();

    static {
        String[] rows = {
            "name num_ret num_rel num_rel_ret precision recall hit_rate recall_all mrr r_precision map dcg dcg_burges"
                + " ndcg ndcg_burges relative_precision f1 bpref iprec rbp err",
            "k *", "rel_level *", "max_depth *", "judged_only *", "ties trec doc_id_asc input",
            "queries qrels intersection strict", "duplicates once first", "score_dtype float64 float32",
            "exclude query_id", "gain linear exp2 binary", "discount log2 jk2", "empty zero one skip nan",
            "ideal judged retrieved num_ret full", "ap_norm R min_kR hits min_nkR", "recall_norm R min_kR",
            "short_rankings pad clip", "empty_ranking zero skip", "bpref_norm min R min_nan", "negatives skip nonrel",
            "rounding v10 v9", "unranked zero nan", "gains binary raw scaled", "rbp_norm infinite cwl", "p *", "recall *",
            "max_grade *",
        };
        for (String row : rows) {
            List<String> words = Arrays.asList(row.split(" "));
            CHOICES.put(words.get(0), words.subList(1, words.size()));
        }
    }

    /** Options by which NaN stays in the mean. */
    private static final Map<String, String> STAYS = Map.of("empty", "nan", "bpref_norm", "min_nan", "unranked", "nan");

    private final Map<String, String> options;
    private final String name;
    private final int k; // 0: the whole ranking
    private final double level;

    private Textbook(Map<String, String> options) {
        this.options = options;
        name = options.get("name");
        k = Integer.parseInt(options.getOrDefault("k", "0"));
        level = Double.parseDouble(options.getOrDefault("rel_level", "1"));
    }

    private String choice(String option) {
        return options.getOrDefault(option, CHOICES.get(option).get(0));
    }

    private double number(String option, double usual) {
        return options.containsKey(option) ? Double.parseDouble(options.get(option)) : usual;
    }

    private static boolean isKnown(String option, String value) {
        List<String> choices = CHOICES.getOrDefault(option, List.of());
        return choices.contains("*") || choices.contains(value);
    }

    static Map<String, Double> evaluate(Run.Case given) {
        if (!given.options.entrySet().stream().allMatch(pair -> isKnown(pair.getKey(), pair.getValue()))) {
            return null;
        }
        Textbook metric = new Textbook(given.options);
        Map<String, Double> found = new LinkedHashMap<>();
        double sum = 0;
        int count = 0;
        for (String query : given.judged.keySet()) {
            boolean isListed = given.lists.containsKey(query);
            List<Run.Entry> run = (isListed ? given.lists : given.scores).get(query);
            if (run == null && !metric.choice("queries").equals("qrels")) {
                continue;
            }
            Map<String, Double> labels = new LinkedHashMap<>();
            boolean isAll = metric.choice("negatives").equals("nonrel");
            given.judged.get(query).stream().filter(entry -> isAll || entry.value() >= 0)
                .forEach(entry -> labels.put(entry.doc(), Math.max(entry.value(), 0)));
            double[] x = metric.ranked(query, run == null ? List.of() : run, isListed, labels);
            double value = metric.value(x, labels.values().stream().mapToDouble(label -> label).toArray());
            found.put(query, value);
            boolean isKept = STAYS.entrySet().stream()
                .anyMatch(pair -> pair.getValue().equals(metric.options.get(pair.getKey())));
            if (!Double.isNaN(value) || isKept) {
                sum += value;
                count += 1;
            }
        }
        found.put("all", metric.name.startsWith("num_") ? sum : sum / count);
        return found;
    }

    /** The label at each rank. */
    private double[] ranked(String query, List<Run.Entry> run, boolean isListed, Map<String, Double> labels) {
        List<Run.Entry> rows = new ArrayList<>(run);
        if (!isListed) {
            boolean isSingle = choice("score_dtype").equals("float32");
            Comparator<Run.Entry> byId = (a, b) -> Arrays.compareUnsigned(
                a.doc().getBytes(StandardCharsets.UTF_8), b.doc().getBytes(StandardCharsets.UTF_8));
            if (!choice("ties").equals("input")) {
                rows.sort(choice("ties").equals("trec") ? byId.reversed() : byId);
            }
            rows.sort(Comparator.comparingDouble(row -> -(isSingle ? (float) row.value() : row.value())));
        }
        List<Double> found = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (Run.Entry row : rows) {
            boolean isNew = seen.add(row.doc());
            boolean isOwn = options.containsKey("exclude") && row.doc().equals(query);
            if (!isOwn && (isNew || choice("duplicates").equals("once"))) {
                found.add(isNew ? labels.getOrDefault(row.doc(), NONE) : NONE);
            }
        }
        int depth = Integer.parseInt(options.getOrDefault("max_depth", "" + found.size()));
        boolean isJudgedOnly = options.getOrDefault("judged_only", "").equals("true");
        return found.stream().limit(depth).filter(label -> !isJudgedOnly || label != NONE)
            .mapToDouble(label -> label).toArray();
    }

    private double gain(double label) {
        if (label == NONE) {
            return 0;
        }
        return switch (name.endsWith("burges") ? "exp2" : choice("gain")) {
            case "exp2" -> Math.pow(2, label) - 1;
            case "binary" -> label >= level ? 1 : 0;
            default -> label;
        };
    }

    private double dcg(double[] gains) {
        int shift = choice("discount").equals("jk2") ? 1 : 2;
        double total = 0;
        for (int i = 0; i < gains.length; i++) {
            total += i == 0 ? gains[i] : gains[i] / (Math.log(i + shift) / Math.log(2));
        }
        return total;
    }

    private double value(double[] x, double[] judged) {
        double[] cut = k > 0 && k < x.length ? Arrays.copyOf(x, k) : x;
        int total = (int) Arrays.stream(judged).filter(label -> label >= level).count();
        int atMost = k > 0 ? Math.min(k, total) : total;
        int hits = 0;
        int first = 0;
        double precisions = 0;
        for (int rank = 1; rank <= cut.length; rank++) {
            if (cut[rank - 1] != NONE && cut[rank - 1] >= level) {
                hits += 1;
                first = first == 0 ? rank : first;
                precisions += (double) hits / rank;
            }
        }
        boolean isWorth = name.contains("dcg") ? Arrays.stream(judged).anyMatch(label -> gain(label) > 0) : total > 0;
        if (x.length == 0 && choice("empty_ranking").equals("skip")) {
            return Double.NaN;
        }
        if (!isWorth && !choice("empty").equals("zero")) {
            return choice("empty").equals("one") ? 1 : Double.NaN;
        }
        return switch (name) {
            case "num_ret" -> x.length;
            case "num_rel" -> total;
            case "num_rel_ret" -> hits;
            case "hit_rate" -> Math.min(hits, 1);
            case "recall_all" -> total > 0 && hits == total ? 1 : 0;
            case "mrr" -> over(1, first);
            case "recall" -> over(hits, choice("recall_norm").equals("min_kR") ? atMost : total);
            case "precision" -> over(hits, k > 0 && choice("short_rankings").equals("pad") ? k : cut.length);
            case "r_precision" -> over(
                Arrays.stream(x).limit(total).filter(label -> label != NONE && label >= level).count(), total);
            case "relative_precision" -> over(hits, Math.min(k > 0 ? k : x.length, total));
            case "f1" -> over(2 * hits, (k > 0 ? k : x.length) + total);
            case "bpref" -> bpref(x, total, judged.length - total);
            case "iprec" -> iprec(x, total);
            case "rbp" -> rbp(cut, judged);
            case "err" -> err(cut);
            case "map" -> over(precisions, switch (choice("ap_norm")) {
                case "R" -> total;
                case "min_kR" -> atMost;
                case "hits" -> hits;
                default -> Math.min(x.length, atMost);
            });
            default -> graded(x, cut, judged);
        };
    }

    private double bpref(double[] x, int total, int others) {
        String norm = choice("bpref_norm");
        double worst = norm.equals("R") ? total : Math.min(total, others);
        int above = 0;
        double found = 0;
        for (double label : x) {
            if (label != NONE && label < level) {
                above += 1;
            } else if (label != NONE) {
                found += above > 0 || norm.equals("min_nan") ? 1 - Math.min(above, total) / worst : 1;
            }
        }
        return over(found, total);
    }

    private double iprec(double[] x, int total) {
        double share = number("recall", 0) * total;
        int needed = (int) Math.floor(share + (choice("rounding").equals("v9") ? 0.9 : 0.5));
        if (x.length == 0 && needed == 0 && choice("unranked").equals("nan")) {
            return Double.NaN;
        }
        int hits = 0;
        double best = 0;
        for (int i = 0; i < x.length; i++) {
            if (x[i] != NONE && x[i] >= level && ++hits >= needed) {
                best = Math.max(best, (double) hits / (i + 1));
            }
        }
        return best;
    }

    private double rbp(double[] cut, double[] judged) {
        double p = number("p", 0.8);
        double most = Arrays.stream(judged).max().orElse(1);
        boolean isFinite = choice("rbp_norm").equals("cwl");
        double seen = 0;
        for (int i = 0; i < (isFinite ? Math.min(cut.length, 1000) : cut.length); i++) {
            double label = Math.max(cut[i], 0);
            seen += Math.pow(p, i) * switch (choice("gains")) {
                case "raw" -> label;
                case "scaled" -> most > 0 ? label / most : 0;
                default -> cut[i] != NONE && label >= level ? 1 : 0;
            };
        }
        return seen * (1 - p) / (isFinite ? 1 - Math.pow(p, 1000) : 1);
    }

    private double err(double[] cut) {
        double going = 1;
        double found = 0;
        for (int i = 0; i < cut.length; i++) {
            double stops = (Math.pow(2, Math.max(cut[i], 0)) - 1) / Math.pow(2, number("max_grade", 4));
            found += going * stops / (i + 1);
            going *= 1 - stops;
        }
        return found;
    }

    private double graded(double[] x, double[] cut, double[] judged) {
        double gained = dcg(gains(cut));
        if (!name.startsWith("n")) {
            return gained;
        }
        String ideal = choice("ideal");
        double[] best = gains(ideal.equals("retrieved") ? x : judged);
        Arrays.sort(best);
        double[] falling = new double[best.length];
        for (int i = 0; i < best.length; i++) {
            falling[i] = best[best.length - 1 - i];
        }
        int length = k > 0 ? k : x.length;
        if (ideal.equals("full") && falling.length > 0) {
            double top = falling[0];
            falling = new double[length];
            Arrays.fill(falling, top);
        } else if (ideal.equals("num_ret")) {
            falling = Arrays.copyOf(falling, Math.min(falling.length, Math.min(length, x.length)));
        } else if (k > 0 && k < falling.length) {
            falling = Arrays.copyOf(falling, k);
        }
        double top = dcg(falling);
        return top > 0 ? gained / top : 0;
    }

    private double[] gains(double[] labels) {
        return Arrays.stream(labels).map(this::gain).toArray();
    }

    private static double over(double a, int b) {
        return b == 0 ? 0 : a / b;
    }
}
