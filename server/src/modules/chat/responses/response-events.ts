import { randomUUID } from 'node:crypto';
import type { CallDelta, Chunk, Usage } from '../completion-stream.ts';
import { type ToolName, toInput } from '../tools/client-tools.ts';
import { itemId } from './responses.ts';
import type { ResponseBody } from './to-chat.ts';

type Text = { type: 'output_text' | 'reasoning_text'; text: string };
type Item = {
  id: string;
  type: 'message' | 'reasoning' | 'function_call' | 'custom_tool_call';
  status: string;
  content?: Text[];
  call_id?: string;
  name?: string;
  namespace?: string;
  arguments?: string;
  input?: string;
};
type Options = { createdAt: Date; isKept: boolean; clientTools: Map<string, ToolName> };
type Response = { id: string; status: string; output: Item[]; [field: string]: unknown };
type Event = { type: string; [field: string]: unknown };

/** Converts the chunks of a chat into a response and its stream events. */
export class ResponseEvents {
  private readonly asked: ResponseBody;
  private readonly id = `resp_${randomUUID().replaceAll('-', '')}`;
  private readonly items: Item[] = [];
  private readonly createdAt: number;
  private readonly isKept: boolean;
  private readonly clientTools: Map<string, ToolName>;
  /** The arguments of the call that is being written. */
  private written = '';
  private open: Item | null = null;
  private number = 0;
  private isCut = false;

  constructor(asked: ResponseBody, { createdAt, isKept, clientTools }: Options) {
    this.asked = asked;
    this.isKept = isKept;
    this.clientTools = clientTools;
    this.createdAt = Math.floor(createdAt.getTime() / 1000);
  }

  /** Returns the first events of a stream. */
  begin(): string {
    const response = this.response('in_progress', null);
    return this.write([
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]);
  }

  /** Returns the events for a chunk of the answer. */
  add({ choices }: Pick<Chunk, 'choices'>): string {
    const events: Event[] = [];
    for (const { delta, finish_reason: reason } of choices) {
      if (delta?.reasoning_content) this.addText('reasoning', delta.reasoning_content, events);
      if (delta?.content) this.addText('message', delta.content, events);
      for (const call of delta?.tool_calls ?? []) this.call(call, events);
      if (reason === 'length') this.isCut = true;
    }
    return this.write(events);
  }

  /** Marks the answer as truncated, for example at a maximum of tokens. */
  cut(): void {
    this.isCut = true;
  }

  /** Returns the last events of a stream; the final event contains the response that `keep` returns. */
  async end(usage: Usage, keep: (response: Response) => Promise<Response>): Promise<string> {
    const events: Event[] = [];
    this.close(events);
    const response = await keep(this.whole(usage));
    return this.write([...events, { type: `response.${response.status}`, response }]);
  }

  /** Returns the event that ends a failed stream. */
  failure(error: object): string {
    return this.write([{ type: 'error', ...error, error }]);
  }

  /** Returns the response after all chunks were added. */
  whole(usage: Usage): Response {
    this.close([]);
    return this.response(this.isCut ? 'incomplete' : 'completed', usage);
  }

  private addText(type: 'message' | 'reasoning', text: string, events: Event[]): void {
    if (this.open?.type !== type) this.begins(type, {}, events);
    const firstPart = this.open?.content?.[0];
    if (!firstPart) return;
    firstPart.text += text;
    const { type: of } = firstPart;
    events.push({
      type: `response.${of}.delta`,
      ...this.place(),
      content_index: 0,
      delta: text,
      logprobs: [],
    });
  }

  private call({ id, function: { name = '', arguments: more } }: CallDelta, events: Event[]): void {
    if (id) {
      const tool = this.clientTools.get(name);
      const { namespace } = tool ?? {};
      const called = { call_id: id, name: tool?.name ?? name, ...(namespace && { namespace }) };
      if (tool?.type === 'custom') this.begins('custom_tool_call', { ...called, input: '' }, events);
      else this.begins('function_call', { ...called, arguments: '' }, events);
      this.written = '';
    }
    this.written += more;
    if (this.open?.type !== 'function_call' || more === '') return;
    this.open.arguments = this.written;
    events.push({ type: 'response.function_call_arguments.delta', ...this.place(), delta: more });
  }

  private begins(type: Item['type'], fields: Partial<Item>, events: Event[]): void {
    this.close(events);
    const kind = { message: 'msg', reasoning: 'rs', function_call: 'fc', custom_tool_call: 'ctc' }[type];
    const id = itemId(kind, this.id, this.items.length);
    const item: Item = { id, type, status: 'in_progress', ...roleOf(type), ...fields };
    this.open = item;
    this.items.push(item);
    events.push({
      type: 'response.output_item.added',
      output_index: this.items.length - 1,
      item: copied(item),
    });
    if (type === 'function_call' || type === 'custom_tool_call') return;
    item.content?.push(
      type === 'message'
        ? ({ type: 'output_text', annotations: [], logprobs: [], text: '' } as Text)
        : { type: 'reasoning_text', text: '' },
    );
    events.push(this.partEvent('added'));
  }

  private close(events: Event[]): void {
    const { open } = this;
    if (!open) return;
    open.status = this.isCut ? 'incomplete' : 'completed';
    const [said] = open.content ?? [];
    if (said) {
      events.push(
        {
          type: `response.${said.type}.done`,
          ...this.place(),
          content_index: 0,
          text: said.text,
          logprobs: [],
        },
        this.partEvent('done'),
      );
    } else if (open.type === 'custom_tool_call') {
      // The model writes the text as a JSON string, which can only be decoded as a whole.
      open.input = toInput(this.written);
      const { input } = open;
      const type = 'response.custom_tool_call_input';
      events.push({ type: `${type}.delta`, ...this.place(), delta: input });
      events.push({ type: `${type}.done`, ...this.place(), input });
    } else {
      const { name, arguments: whole } = open;
      events.push({ type: 'response.function_call_arguments.done', ...this.place(), name, arguments: whole });
    }
    events.push({
      type: 'response.output_item.done',
      output_index: this.items.length - 1,
      item: copied(open),
    });
    this.open = null;
  }

  private partEvent(what: 'added' | 'done'): Event {
    const part = copied(this.open?.content?.[0] ?? {});
    return { type: `response.content_part.${what}`, ...this.place(), content_index: 0, part };
  }

  private place() {
    return { item_id: this.open?.id, output_index: this.items.length - 1 };
  }

  private response(status: string, usage: Usage | null): Response {
    const { asked } = this;
    return {
      ...{
        id: this.id,
        object: 'response',
        created_at: this.createdAt,
        status,
        background: false,
        error: null,
      },
      incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
      ...{ instructions: asked.instructions ?? null, max_output_tokens: asked.max_output_tokens ?? null },
      ...{ model: asked.model, output: this.items.map(copied), metadata: asked.metadata ?? {} },
      ...{
        parallel_tool_calls: asked.parallel_tool_calls ?? true,
        previous_response_id: asked.previous_response_id ?? null,
      },
      ...{
        reasoning: { effort: asked.reasoning?.effort ?? null, summary: null },
        store: this.isKept,
        service_tier: 'default',
      },
      ...{ temperature: asked.temperature ?? null, top_p: asked.top_p ?? null, top_logprobs: 0 },
      text: { format: asked.text?.format ?? { type: 'text' }, verbosity: asked.text?.verbosity ?? 'medium' },
      ...{ tool_choice: asked.tool_choice ?? 'auto', tools: asked.tools ?? [], truncation: 'disabled' },
      usage: usage && toWireUsage(usage),
    };
  }

  private write(events: Event[]): string {
    return events
      .map((event) => {
        const numbered = { ...event, sequence_number: this.number };
        this.number += 1;
        return `event: ${event.type}\ndata: ${JSON.stringify(numbered)}\n\n`;
      })
      .join('');
  }
}

function roleOf(type: Item['type']): object {
  if (type === 'message') return { role: 'assistant', content: [] };
  return type === 'reasoning' ? { summary: [], content: [] } : {};
}

/** Copies a value into an event, so that later chunks do not change it. */
function copied<Value>(value: Value): Value {
  return structuredClone(value);
}

/**
 * Reports zero cache hits, because they would reveal other users' calls. Reports zero thought tokens, because
 * they are not counted separately.
 */
function toWireUsage({ promptTokens, completionTokens }: Usage) {
  return {
    ...{ input_tokens: promptTokens, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: completionTokens, output_tokens_details: { reasoning_tokens: 0 } },
    total_tokens: promptTokens + completionTokens,
  };
}
