/** What one answer used, read off the model server's own stream. */
export type Usage = { promptTokens: number; completionTokens: number };

/**
 * Follows an OpenAI-style event stream without parsing what it does not need: events pass as
 * they are; only the final usage is read. A stream that breaks off before its usage is counted
 * by the events that carried text, one token each, so that it is charged for no more than came.
 */
export class CompletionStream {
  private buffered = '';
  private textEvents = 0;
  private reported: Usage | null = null;
  private done = false;
  private readonly modelName: string;
  private readonly keepUsage: boolean;

  /** `keepUsage`: the caller asked for the usage event (`stream_options.include_usage`). */
  constructor(modelName: string, keepUsage: boolean) {
    this.modelName = modelName;
    this.keepUsage = keepUsage;
  }

  /** Takes bytes as they come; returns the text to send on, whole events only. */
  push(chunk: string): string {
    this.buffered += chunk;
    let out = '';
    for (;;) {
      const end = this.buffered.indexOf('\n\n');
      if (end < 0) return out;
      out += withModelName(this.take(this.buffered.slice(0, end + 2)), this.modelName);
      this.buffered = this.buffered.slice(end + 2);
    }
  }

  /** What is left to send when the model server has closed: the end mark, if it sent none. An event that was cut off is dropped. */
  finish(): string {
    return this.done ? '' : 'data: [DONE]\n\n';
  }

  /** Whether the first event with text has passed. */
  get started(): boolean {
    return this.textEvents > 0;
  }

  get usage(): Usage {
    return this.reported ?? { promptTokens: 0, completionTokens: this.textEvents };
  }

  private take(event: string): string {
    if (event.startsWith('data: [DONE]')) {
      this.done = true;
      return event;
    }
    if (event.includes('"usage":{')) {
      const data: unknown = JSON.parse(event.slice('data: '.length));
      this.reported = readUsage(data) ?? this.reported;
      if (!this.keepUsage && isUsageOnly(data)) return '';
    }
    if (/"(content|text|reasoning_content)":"./.test(event)) this.textEvents += 1;
    return event;
  }
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
