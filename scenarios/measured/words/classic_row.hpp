// SPDX-License-Identifier: Apache-2.0
// Rows of boosted trees, k-means, vector search, recommenders, video, robots and of networks on processors, in words
// ("xgboost; airline dataset, 100 trees, depth 10, lr 0.1; rows=10M").
#pragma once

#include <headroom/model/classic/classic_numbers.hpp>
#include <headroom/model/classic/media_numbers.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <string>

namespace headroom {

class ModelData;

/// What rows are answered by: the laws' numbers are those of the data, or others that a fit tries.
struct ClassicLaws {
  const Catalog& catalog;
  const ModelData& data;
  const classic::Numbers& numbers;
  const classic::MediaNumbers& media;
  bool whole = true;  ///< streams are whole; a fit follows their fractions
};

/// Whether the row is of classic machine learning, of video, robots and simulators, or of a network on a processor.
[[nodiscard]] bool classic_row(const RunFile& file, const RunRow& row);
/// Its time, rate, memory, energy or money by the laws of model/classic.
[[nodiscard]] RowPrediction predict_classic(const Catalog& catalog,
                                            const ModelData& data,
                                            const RunFile& file,
                                            const RunRow& row);

[[nodiscard]] RowPrediction predict_classic(const ClassicLaws& laws, const RunFile& file, const RunRow& row);
/// The SKU or processor whose rows a fit leaves out together: its name in the tables, or the hardware as it stands.
[[nodiscard]] std::string classic_machine(const ModelData& data, const RunFile& file, const RunRow& row);

/// The parts of predict_classic(), each of the rows of one workload.
[[nodiscard]] RowPrediction predict_vectors(const ClassicLaws& laws, const RunFile& file, const RunRow& row);
[[nodiscard]] RowPrediction predict_recommender(const ClassicLaws& laws, const RunFile& file, const RunRow& row);
/// Video effects, simulators and policies of robots.
[[nodiscard]] RowPrediction predict_media(const ClassicLaws& laws, const RunFile& file, const RunRow& row);

}  // namespace headroom
