/* ndcg@10, map, mrr, P@10 and recall@100 of labels in rank order, as one writes them at first: a peer of bench_arrays.py,
 * which compiles it. Labels are 0 to 7. */

#include <math.h>
#include <stdint.h>

void five_metrics(const int8_t *labels, const int64_t *offsets, int64_t queries, double *values)
{
    for (int64_t q = 0; q < queries; q++, values += 5) {
        const int8_t *list = labels + offsets[q];
        const int64_t n = offsets[q + 1] - offsets[q];
        int64_t sizes[8] = {0}, found = 0, among_10 = 0, among_100 = 0, place = 0;
        double dcg = 0, ideal = 0, precisions = 0, reciprocal = 0;
        for (int64_t i = 0; i < n; i++) {
            if (i < 10)
                dcg += list[i] / log2(i + 2.0);
            if (list[i] > 0) {
                sizes[list[i]]++;
                found++;
                precisions += (double)found / (i + 1);
                if (found == 1)
                    reciprocal = 1.0 / (i + 1);
                among_10 += i < 10;
                among_100 += i < 100;
            }
        }
        for (int label = 7; label > 0; label--)
            for (int64_t i = 0; i < sizes[label] && place < 10; i++, place++)
                ideal += label / log2(place + 2.0);
        values[0] = ideal > 0 ? dcg / ideal : 0;
        values[1] = found ? precisions / found : 0;
        values[2] = reciprocal;
        values[3] = among_10 / 10.0;
        values[4] = found ? (double)among_100 / found : 0;
    }
}
