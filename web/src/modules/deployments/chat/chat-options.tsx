import { Field } from '../../../ui/field.tsx';
import { NumberField } from '../../../ui/number-field.tsx';
import { Textarea } from '../../../ui/textarea.tsx';
import type { ChatOptions } from './chat.ts';

export type ChatSettings = { system: string; options: ChatOptions };

/** An answer may take a quarter of the context with which models are served: the rest is the conversation's. */
export const initialSettings: ChatSettings = { system: '', options: { temperature: 0, max_tokens: 1024 } };

export const limits = { temperature: { min: 0, max: 2 }, max_tokens: { min: 1, max: 2048 } } as const;

/** What keeps a question from being sent, by field. An empty field is NaN. */
export function optionProblems(options: ChatOptions): Partial<Record<keyof ChatOptions, string>> {
  const within = ({ min, max }: { min: number; max: number }, value: number) => value >= min && value <= max;
  const { temperature, max_tokens } = options;
  return {
    ...(!within(limits.temperature, temperature) && { temperature: 'Temperature must be from 0 to 2' }),
    ...(!(within(limits.max_tokens, max_tokens) && Number.isInteger(max_tokens)) && {
      max_tokens: 'Must be a whole number from 1 to 2,048',
    }),
  };
}

type Props = { settings: ChatSettings; onChange: (settings: ChatSettings) => void };

/** How the model is to answer. */
export function ChatOptionFields({ settings, onChange }: Props) {
  const { system, options } = settings;
  const problems = optionProblems(options);
  const number = (field: keyof ChatOptions) => ({
    ...limits[field],
    value: Number.isNaN(options[field]) ? null : options[field],
    onChange: (value: number | null) =>
      onChange({ ...settings, options: { ...options, [field]: value ?? Number.NaN } }),
  });
  return (
    <>
      <Field label="System prompt" aside="Optional">
        <Textarea
          rows={3}
          dir="auto"
          value={system}
          onChange={(event) => onChange({ ...settings, system: event.target.value })}
        />
      </Field>
      <Field label="Temperature" help="At 0 the answer is the same every time." error={problems.temperature}>
        <NumberField step={0.1} {...number('temperature')} />
      </Field>
      <Field label="Maximum tokens" help="The answer stops there." error={problems.max_tokens}>
        <NumberField step={64} {...number('max_tokens')} />
      </Field>
    </>
  );
}
