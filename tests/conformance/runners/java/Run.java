// Run an implementation against the suite, from the line form: javac Run.java Textbook.java && java Run FOLDER
// Another implementation is another class with evaluate in place of Textbook.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

public final class Run {
    /** A document with its label or its score; in a list the score means nothing. */
    record Entry(String doc, double value) {}

    /** `judged` has the queries in their order. */
    static final class Case {
        String id;
        String tolerance;
        final Map<String, String> options = new HashMap<>();
        final Map<String, List<Entry>> judged = new LinkedHashMap<>();
        final Map<String, List<Entry>> scores = new HashMap<>();
        final Map<String, List<Entry>> lists = new HashMap<>();
        final Map<String, Double> expected = new LinkedHashMap<>();
    }

    static List<Entry> entries(String[] words, int step) {
        List<Entry> found = new ArrayList<>();
        for (int i = 2; i + step <= words.length; i += step) {
            found.add(new Entry(words[i], step == 2 ? Double.parseDouble(words[i + 1]) : 0));
        }
        return found;
    }

    static Case parse(String block) {
        Case made = new Case();
        for (String line : block.split("\n")) {
            String[] words = line.split("\t");
            switch (words[0]) {
                case "case" -> {
                    made.id = words[1];
                    made.tolerance = words[2];
                }
                case "options" -> {
                    for (int i = 2; i < words.length; i += 2) {
                        made.options.put(words[i - 1], words[i]);
                    }
                }
                case "parents" -> made.options.put("parents", line);
                case "judged" -> made.judged.put(words[1], entries(words, 2));
                case "scores" -> made.scores.put(words[1], entries(words, 2));
                case "list" -> made.lists.put(words[1], entries(words, 1));
                case "expect" -> made.expected.put(words[1], number(words[3])); // the hexadecimal form
                default -> { }
            }
        }
        return made;
    }

    static double number(String text) {
        return text.equals("nan") ? Double.NaN : Double.parseDouble(text);
    }

    static boolean isClose(Double value, double expected, String tolerance) {
        if (value == null || value.isNaN() || Double.isNaN(expected)) {
            return value != null && value.isNaN() && Double.isNaN(expected);
        }
        double within = switch (tolerance) {
            case "exact" -> 0;
            case "last bit" -> Math.ulp(expected);
            default -> 1e-12 * Math.max(1, Math.abs(expected));
        };
        return Math.abs(value - expected) <= within;
    }

    public static void main(String[] arguments) throws IOException {
        int[] counts = new int[3]; // all, claimed, passed
        try (Stream<Path> paths = Files.list(Path.of(arguments[0]))) {
            for (Path path : paths.filter(path -> path.toString().endsWith(".txt")).sorted().toList()) {
                for (String block : Files.readString(path).strip().split("\n\n")) {
                    Case given = parse(block);
                    Map<String, Double> found = Textbook.evaluate(given);
                    boolean fine = found != null && found.keySet().equals(given.expected.keySet())
                        && found.keySet().stream().allMatch(
                            query -> isClose(found.get(query), given.expected.get(query), given.tolerance));
                    counts = new int[] {counts[0] + 1, counts[1] + (found == null ? 0 : 1), counts[2] + (fine ? 1 : 0)};
                    if (found != null && !fine) {
                        System.out.println(given.id + ": " + found + ", expected " + given.expected);
                    }
                }
            }
        }
        System.out.printf("java: %d of %d claimed cases passed, %d of %d not claimed%n",
            counts[2], counts[1], counts[0] - counts[1], counts[0]);
        System.exit(counts[1] > 0 && counts[1] == counts[2] ? 0 : 1);
    }
}
