/** A number with its interval: 80 % of the measured runs of its class lay between low and high. SI units. */
export interface Interval {
  low: number;
  mid: number;
  high: number;
}

/** A scenario: the tables of its TOML document as objects. What a number counts may be a text too, "8k". */
export interface Scenario {
  // @KEYS@
  [key: string]: unknown;
}

/** What may stand beside the scenario of a question. */
export interface Options {
  /** Keys that lie over the scenario's, with dots: {"strategy.tp": 8}. */
  set?: Record<string, unknown>;
  /** A config.json of Hugging Face in place of the scenario's model. */
  config?: string | Record<string, unknown>;
  [option: string]: unknown;
}

/** One thing that is wrong with a question. */
export interface Problem {
  code: string;
  message: string;
  file?: string;
  line?: number;
  column?: number;
  key?: string;
  [member: string]: unknown;
}

/** An answer: members as docs/json.md has them, the unit in each name, the most usual of them typed. */
export interface Answer {
  schema: string;
  verdict?: string;
  verdict_text?: string;
  feasible?: boolean;
  fits_probability?: number;
  memory_bytes?: Interval;
  step_time_s?: Interval;
  tokens_per_s?: Interval;
  mfu?: Interval;
  duration_s?: Interval;
  cost_usd?: Interval;
  ttft_s?: Interval;
  tpot_s?: Interval;
  output_tokens_per_s?: Interval;
  usd_per_million_output_tokens?: Interval;
  [member: string]: any;
}

export class HeadroomError extends Error {
  readonly problems: Problem[];
  readonly document: Answer;
}

export function plan(scenario: Scenario | string, options?: Options): Answer;
export function explain(scenario: Scenario | string, options?: Options): Answer;
export function search(scenario: Scenario | string, options?: Options): Answer;
export function simulate(scenario: Scenario | string, options?: Options): Answer;
export function scale(scenario: Scenario | string, options?: Options): Answer;
export function compare(scenarios: (Scenario | string)[], options?: Options): Answer;
export function importConfig(config: string | Record<string, unknown>): Answer;
export function catalog(kind?: string): Answer;
export function keys(): Answer;
export function reply(verb: string, request?: Record<string, unknown>): Answer;
export function replyText(verb: string, request?: Record<string, unknown>): string;
