import { randomUUID } from 'node:crypto';
import type { CallDelta, Chunk, Usage } from '../../modules/chat/completion-stream.ts';

type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: object };
type Event = { type: string; [field: string]: unknown };
type Answer = { usage: Usage; stopSequence: string | null };

/** Event that keeps an idle stream open. */
export const PING = write([{ type: 'ping' }]);

/** Converts the chunks of a chat into a message and its stream events. */
export class MessageEvents {
  private readonly asked: { model: string; max_tokens: number };
  private readonly id = `msg_${randomUUID().replaceAll('-', '')}`;
  private readonly content: Block[] = [];
  /** The input of the open tool call, as far as it was received. */
  private input = '';
  private isOpen = false;
  private hasStarted = false;
  private finish: string | null = null;
  private stopSequence: string | null = null;

  constructor(asked: { model: string; max_tokens: number }) {
    this.asked = asked;
  }

  /** Returns the events for chunks of the answer. */
  add(chunks: Pick<Chunk, 'choices'>[], { usage, stopSequence }: Answer): string {
    if (chunks.length === 0) return '';
    const events = this.start(usage);
    for (const { delta, finish_reason: reason } of chunks.flatMap(({ choices }) => choices)) {
      if (delta?.reasoning_content) this.think(delta.reasoning_content, events);
      if (delta?.content) this.addText(delta.content, events);
      for (const call of delta?.tool_calls ?? []) this.call(call, events);
      this.finish = reason ?? this.finish;
    }
    this.stopSequence = stopSequence;
    return write(events);
  }

  /** Marks the answer as truncated, for example because it reached the maximum of tokens. */
  cut(): void {
    this.finish = 'cut';
  }

  /** Returns the events that end a stream. */
  end(usage: Usage): string {
    const events = this.start(usage);
    this.close(events);
    events.push(
      { type: 'message_delta', delta: this.ending(usage), usage: toWireUsage(usage) },
      { type: 'message_stop' },
    );
    return write(events);
  }

  /** Returns the complete message. Call it after all chunks were added. */
  whole(usage: Usage): object {
    this.close([]);
    return { ...this.message(usage), content: this.content, ...this.ending(usage) };
  }

  private start(usage: Usage): Event[] {
    if (this.hasStarted) return [];
    this.hasStarted = true;
    return [{ type: 'message_start', message: this.message(usage) }];
  }

  private message(usage: Usage) {
    return {
      ...{ id: this.id, type: 'message', role: 'assistant', model: this.asked.model, content: [] },
      ...{ stop_reason: null, stop_sequence: null },
      usage: toWireUsage(usage),
    };
  }

  private addText(text: string, events: Event[]): void {
    const block = this.opened('text', () => ({ type: 'text', text: '' }), events);
    block.text += text;
    this.delta({ type: 'text_delta', text }, events);
  }

  private think(thinking: string, events: Event[]): void {
    const block = this.opened('thinking', () => ({ type: 'thinking', thinking: '', signature: '' }), events);
    block.thinking += thinking;
    this.delta({ type: 'thinking_delta', thinking }, events);
  }

  private call({ id, function: { name, arguments: more } }: CallDelta, events: Event[]): void {
    if (id) {
      const named = { id: id.replace(/^call_/, 'toolu_'), name: name ?? '', input: {} };
      this.open({ type: 'tool_use', ...named }, events);
    }
    if (more === '') return;
    this.input += more;
    this.delta({ type: 'input_json_delta', partial_json: more }, events);
  }

  /** Returns the open block if it has this type. Otherwise closes it and opens a new one. */
  private opened<Type extends Block['type']>(
    type: Type,
    make: () => Extract<Block, { type: Type }>,
    events: Event[],
  ): Extract<Block, { type: Type }> {
    const last = this.content.at(-1);
    if (this.isOpen && last?.type === type) return last as Extract<Block, { type: Type }>;
    const block = make();
    this.open(block, events);
    return block;
  }

  private open(block: Block, events: Event[]): void {
    this.close(events);
    this.content.push(block);
    Object.assign(this, { isOpen: true, input: '' });
    events.push({ type: 'content_block_start', index: this.index(), content_block: { ...block } });
    if (this.index() === 0) events.push({ type: 'ping' });
  }

  private delta(delta: object, events: Event[]): void {
    events.push({ type: 'content_block_delta', index: this.index(), delta });
  }

  private close(events: Event[]): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const block = this.content.at(-1);
    if (block?.type === 'tool_use') block.input = toInput(this.input);
    // Thoughts need no signature, because later requests do not use them.
    if (block?.type === 'thinking') this.delta({ type: 'signature_delta', signature: '' }, events);
    events.push({ type: 'content_block_stop', index: this.index() });
  }

  private index(): number {
    return this.content.length - 1;
  }

  private ending({ completionTokens }: Usage): { stop_reason: string; stop_sequence: string | null } {
    const { finish, stopSequence } = this;
    if (finish === 'tool_calls') return { stop_reason: 'tool_use', stop_sequence: null };
    if (finish === 'length' && completionTokens < this.asked.max_tokens)
      return { stop_reason: 'model_context_window_exceeded', stop_sequence: null };
    if (finish === 'length' || finish === 'cut') return { stop_reason: 'max_tokens', stop_sequence: null };
    return { stop_reason: stopSequence === null ? 'end_turn' : 'stop_sequence', stop_sequence: stopSequence };
  }
}

/** Never reports cache hits, because they would reveal other users' calls. */
function toWireUsage({ promptTokens, completionTokens }: Usage) {
  return {
    ...{ input_tokens: promptTokens, output_tokens: completionTokens },
    ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0, service_tier: 'standard' },
  };
}

/** Returns the input of a tool call; empty if the call was truncated. */
function toInput(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function write(events: Event[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
