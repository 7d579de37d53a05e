import type { ServedBase } from './text-server-spec.ts';

/** What one answer used, read off the model server's own stream. */
export type Usage = { promptTokens: number; completionTokens: number };

type Options = {
  engine: ServedBase['engine'];
  /** The name that the caller asked for. */
  modelName: string;
  /** The caller asked for the usage event (`stream_options.include_usage`). */
  keepUsage: boolean;
};

/** What has to be asked of a model server so that every event tells the usage so far. */
export const runningUsage: Record<ServedBase['engine'], object> = {
  llamacpp: { timings_per_token: true, stream_options: { include_usage: true } },
  vllm: { stream_options: { include_usage: true, continuous_usage_stats: true } },
};

/**
 * Follows an OpenAI-style event stream. Events pass with little change: the model has the name that
 * was asked for, and what was asked of the model server for the bill alone is taken out. The usage
 * is known at every moment, so an answer that breaks off is charged for exactly what came.
 */
export class CompletionStream {
  private readonly options: Options;
  private buffered = '';
  private done = false;
  private lastUsage: Usage = { promptTokens: 0, completionTokens: 0 };

  constructor(options: Options) {
    this.options = options;
  }

  /** Takes text as it comes; returns the text to send on, whole events only. */
  push(chunk: string): string {
    this.buffered += chunk;
    let out = '';
    for (;;) {
      const end = this.buffered.indexOf('\n\n');
      if (end < 0) return out;
      out += this.take(this.buffered.slice(0, end + 2));
      this.buffered = this.buffered.slice(end + 2);
    }
  }

  /** What is left to send when the model server has closed: the end mark, if it sent none. An event that was cut off is dropped. */
  finish(): string {
    return this.done ? '' : 'data: [DONE]\n\n';
  }

  /** Whether a token has come. */
  get started(): boolean {
    return this.lastUsage.completionTokens > 0;
  }

  get usage(): Usage {
    return this.lastUsage;
  }

  private take(event: string): string {
    if (event.startsWith('data: [DONE]')) {
      this.done = true;
      return event;
    }
    const { engine, modelName, keepUsage } = this.options;
    let out = withModelName(event, modelName);
    const counted = engine === 'llamacpp' ? readTimings(event) : null;
    if (counted) {
      this.lastUsage = counted;
      out = out.replace(timings, '');
    }
    if (!event.includes('"usage":{')) return out;
    const data: unknown = JSON.parse(event.slice('data: '.length));
    this.lastUsage = readUsage(data) ?? this.lastUsage;
    // vLLM puts the usage so far into every event; the one without choices is the caller's.
    if (!isUsageOnly(data)) return out.replace(/,"usage":\{[^{}]*(\{[^{}]*\}[^{}]*)*\}/, '');
    return keepUsage ? out : '';
  }
}

const timings = /,"timings":(\{[^}]*\})/;

/** llama.cpp counts the prompt in two parts: what it had in its cache, and what it had to read. */
function readTimings(event: string): Usage | null {
  const [, json] = timings.exec(event) ?? [];
  if (json === undefined) return null;
  const counts = JSON.parse(json) as Record<string, number | undefined>;
  return {
    promptTokens: (counts.cache_n ?? 0) + (counts.prompt_n ?? 0),
    completionTokens: counts.predicted_n ?? 0,
  };
}

/**
 * An answer, or one event of it, under the name that the caller asked for. A quote inside of a JSON
 * string is escaped, so the pattern meets only the field itself.
 */
export function withModelName(json: string, modelName: string): string {
  return json.replace(/"model":"[^"]*"/, () => `"model":${JSON.stringify(modelName)}`);
}

/** Reads `usage` from an answer or an event; null where it has none. */
export function readUsage(data: unknown): Usage | null {
  if (typeof data !== 'object' || data === null || !('usage' in data)) return null;
  const { usage } = data;
  if (typeof usage !== 'object' || usage === null) return null;
  const count = (name: string) => {
    const value = (usage as Record<string, unknown>)[name];
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
  };
  return { promptTokens: count('prompt_tokens'), completionTokens: count('completion_tokens') };
}

function isUsageOnly(data: unknown): boolean {
  return (
    typeof data === 'object' &&
    data !== null &&
    'choices' in data &&
    Array.isArray(data.choices) &&
    data.choices.length === 0
  );
}
