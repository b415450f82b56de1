// SPDX-License-Identifier: Apache-2.0
// Rows of boosted trees, k-means, vector search, recommenders and of networks on processors, in words
// ("xgboost; airline dataset, 100 trees, depth 10, lr 0.1; rows=10M").
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

namespace headroom {

class ModelData;

/// Whether the row is of classic machine learning, or of a network on a processor.
[[nodiscard]] bool classic_row(const RunFile& file, const RunRow& row);
/// Its time, rate, memory, energy or money by the laws of model/classic.
[[nodiscard]] RowPrediction predict_classic(const Catalog& catalog,
                                            const ModelData& data,
                                            const RunFile& file,
                                            const RunRow& row);

/// The parts of predict_classic(), each of the rows of one workload.
[[nodiscard]] RowPrediction predict_vectors(const Catalog& catalog,
                                            const ModelData& data,
                                            const RunFile& file,
                                            const RunRow& row);
[[nodiscard]] RowPrediction predict_recommender(const Catalog& catalog,
                                                const ModelData& data,
                                                const RunFile& file,
                                                const RunRow& row);

}  // namespace headroom
