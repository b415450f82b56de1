// SPDX-License-Identifier: Apache-2.0
// Facts of an engine's launch and of its clients that move the time to first token.
#pragma once

namespace headroom {

struct ClientFacts {
  double stream_interval = 1.0;    ///< tokens of a streamed piece of the answer
  double recv_interval = 1.0;      ///< decode iterations between two looks for new requests
  double batch_wait = 0.0;         ///< decode iterations that prompts wait for more of them
  double batch_wait_share = 0.0;   ///< share of an iteration's tokens from which prompts wait no longer
  double decode_steps = 0.0;       ///< iterations of decodes behind each one that may take prompts
  double decode_steps_from = 0.0;  ///< running sequences from which it is so
  double front_ends = 1.0;         ///< processes of the front end, which share the pieces
  /// Balanced attention-DP: iterations after which prompts run although some rank has none; 0: prompts never wait for
  /// those of other ranks.
  double balance_timeout = 0.0;
  double balance_batching = 0.0;  ///< iterations that prompts wait for more once every rank has one
};

}  // namespace headroom
