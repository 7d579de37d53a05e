import {
  type CallDelta,
  type Choice,
  type Chunk,
  type LegacyLogprobs,
  type Logprobs,
  toWireUsage,
  type Usage,
} from './completion-stream.ts';
import type { IsCustom } from './tools/chat-tools.ts';
import { toInput } from './tools/client-tools.ts';

type Call = { id: string; type: 'function'; function: { name: string; arguments: string } };

/** Joins the chunks of a stream into one answer. */
export class WholeAnswer {
  private head: Pick<Chunk, 'id' | 'created' | 'model'> | null = null;
  private readonly choices: WholeChoice[] = [];
  private readonly isCustom: IsCustom;

  constructor(isCustom: IsCustom = () => false) {
    this.isCustom = isCustom;
  }

  add({ id, created, model, choices }: Chunk): void {
    this.head ??= { id, created, model };
    for (const choice of choices) (this.choices[choice.index] ??= new WholeChoice(this.isCustom)).add(choice);
  }

  /** Marks the answer as truncated, for example at a maximum of tokens. */
  cut(): void {
    for (const choice of this.choices) choice.cut();
  }

  toJson(usage: Usage): object {
    const choices = this.choices.length > 0 ? this.choices : [new WholeChoice(this.isCustom)];
    return {
      id: this.head?.id ?? '',
      object: choices[0]?.isChat ? 'chat.completion' : 'text_completion',
      created: this.head?.created ?? 0,
      model: this.head?.model ?? '',
      choices: choices.map((choice, index) => ({ index, ...choice.toJson() })),
      usage: toWireUsage(usage),
    };
  }
}

class WholeChoice {
  isChat = false;
  private readonly text: string[] = [];
  private readonly reasoning: string[] = [];
  private readonly logprobs: NonNullable<Choice['logprobs']>[] = [];
  private readonly calls: Call[] = [];
  private finishReason: string | null = null;
  private readonly isCustom: IsCustom;

  constructor(isCustom: IsCustom) {
    this.isCustom = isCustom;
  }

  add({ delta, text, logprobs, finish_reason: finishReason }: Choice): void {
    if (delta) this.isChat = true;
    this.text.push(delta?.content ?? text ?? '');
    this.reasoning.push(delta?.reasoning_content ?? '');
    for (const call of delta?.tool_calls ?? []) this.addCall(call);
    if (logprobs) this.logprobs.push(logprobs);
    this.finishReason = finishReason ?? this.finishReason;
  }

  cut(): void {
    this.finishReason ??= 'length';
  }

  toJson(): object {
    return { ...(this.isChat ? this.chatChoice() : this.textChoice()), finish_reason: this.finishReason };
  }

  private addCall({ index, id, function: { name, arguments: more } }: CallDelta): void {
    const call = (this.calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } });
    call.id ||= id ?? '';
    call.function.name ||= name ?? '';
    call.function.arguments += more;
  }

  private toClientCall(call: Call): object {
    const { name, arguments: written } = call.function;
    if (!this.isCustom(name)) return call;
    return { id: call.id, type: 'custom', custom: { name, input: toInput(written) } };
  }

  private chatChoice(): object {
    const parts = this.logprobs as Logprobs[];
    const reasoning = this.reasoning.join('');
    const content = this.text.join('');
    const calls = this.calls.filter(Boolean).map((call) => this.toClientCall(call));
    return {
      message: {
        role: 'assistant',
        content: content === '' && calls.length > 0 ? null : content,
        ...(reasoning && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      logprobs: parts.length > 0 ? { content: parts.flatMap((part) => part.content) } : null,
    };
  }

  private textChoice(): object {
    const parts = this.logprobs as LegacyLogprobs[];
    const joined: LegacyLogprobs = {
      tokens: parts.flatMap((part) => part.tokens),
      token_logprobs: parts.flatMap((part) => part.token_logprobs),
      top_logprobs: parts.flatMap((part) => part.top_logprobs),
      text_offset: parts.flatMap((part) => part.text_offset),
    };
    return { text: this.text.join(''), logprobs: parts.length > 0 ? joined : null };
  }
}
