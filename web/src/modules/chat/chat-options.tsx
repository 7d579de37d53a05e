import { useState } from 'react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { Field } from '../../ui/field.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { Textarea } from '../../ui/textarea.tsx';
import type { ChatOptions } from './chat.ts';
import { type TypedTools, toolsProblem } from './chat-tools.ts';

export type ChatSettings = { system: string; tools?: TypedTools | undefined; options: ChatOptions };

/** `max_tokens` is well below the context size, to leave room for the conversation. */
export const initialSettings: ChatSettings = { system: '', options: { temperature: 0, max_tokens: 1024 } };

/** Both engines support a seed; vLLM requires `top_p` above 0. */
const limits = {
  temperature: { min: 0, max: 2 },
  top_p: { min: 0.01, max: 1 },
  seed: { min: 0, max: 4_294_967_295 },
} as const;

export const optionLabels = {
  temperature: 'Temperature',
  max_tokens: 'Maximum tokens',
  top_p: 'Top-p',
  seed: 'Seed',
  tools: 'Tools',
} as const;

/**
 * Returns validation problems by field for a model with this context size. A required field left empty is
 * NaN.
 */
export function optionProblems(
  options: ChatOptions,
  contextTokens: number,
): Partial<Record<keyof ChatOptions, string>> {
  const within = ({ min, max }: { min: number; max: number }, value: number) => value >= min && value <= max;
  const wholeWithin = (bounds: { min: number; max: number }, value: number) =>
    within(bounds, value) && Number.isInteger(value);
  const { temperature, max_tokens, top_p, seed } = options;
  return {
    ...(!within(limits.temperature, temperature) && { temperature: 'Temperature must be from 0 to 2' }),
    ...(!wholeWithin({ min: 1, max: contextTokens }, max_tokens) && {
      max_tokens: `Must be a whole number from 1 to ${formatNumber(contextTokens)}`,
    }),
    ...(top_p !== undefined && !within(limits.top_p, top_p) && { top_p: 'Must be from 0.01 to 1, or empty' }),
    ...(seed !== undefined &&
      !wholeWithin(limits.seed, seed) && {
        seed: `Must be a whole number from 0 to ${formatNumber(limits.seed.max)}, or empty`,
      }),
  };
}

/** Returns the settings that block sending. */
export function problemFields(
  { options, tools }: ChatSettings,
  contextTokens: number,
): (keyof typeof optionLabels)[] {
  const fields = Object.keys(optionProblems(options, contextTokens)) as (keyof ChatOptions)[];
  return tools && toolsProblem(tools) ? [...fields, 'tools'] : fields;
}

type Props = {
  settings: ChatSettings;
  /** Maximum tokens of prompt and answer together. */
  contextTokens: number;
  onChange: (settings: ChatSettings) => void;
};

export function ChatOptionFields({ settings, contextTokens, onChange }: Props) {
  const { system, options } = settings;
  const [hasAdvanced] = useState(options.top_p !== undefined || options.seed !== undefined);
  const problems = optionProblems(options, contextTokens);
  const change = (values: ChatOptions) => onChange({ ...settings, options: values });
  const number = (field: 'temperature' | 'max_tokens') => ({
    ...(field === 'max_tokens' ? { min: 1, max: contextTokens } : limits[field]),
    value: Number.isNaN(options[field]) ? null : options[field],
    onChange: (value: number | null) => change({ ...options, [field]: value ?? Number.NaN }),
  });
  const optional = (field: 'top_p' | 'seed') => ({
    ...limits[field],
    value: options[field] ?? null,
    onChange: (value: number | null) => change({ ...options, [field]: value ?? undefined }),
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
      <Field
        label={optionLabels.temperature}
        help="0 always chooses the most likely token."
        error={problems.temperature}
      >
        <NumberField step={0.1} {...number('temperature')} />
      </Field>
      <Field
        label={optionLabels.max_tokens}
        help={`Maximum length of an answer. Context window: ${formatNumber(contextTokens)} tokens.`}
        error={problems.max_tokens}
      >
        <NumberField step={64} {...number('max_tokens')} />
      </Field>
      <ToolFields
        tools={settings.tools ?? { definitions: '', required: false }}
        onChange={(tools) => onChange({ ...settings, tools })}
      />
      <Disclosure title="Advanced" defaultOpen={hasAdvanced}>
        <div className="flex flex-col gap-4">
          <Field
            label={optionLabels.top_p}
            aside="Optional"
            help="Samples from the most likely tokens whose total probability reaches this value."
            error={problems.top_p}
          >
            <NumberField step={0.05} {...optional('top_p')} />
          </Field>
          <Field
            label={optionLabels.seed}
            aside="Optional"
            help="The same seed and settings usually give the same answer."
            error={problems.seed}
          >
            <NumberField {...optional('seed')} />
          </Field>
        </div>
      </Disclosure>
    </>
  );
}

/** Functions that the model may call. They are not executed here: the user enters the results. */
function ToolFields({ tools, onChange }: { tools: TypedTools; onChange: (tools: TypedTools) => void }) {
  const [isOpen] = useState(tools.definitions !== '');
  return (
    <Disclosure title={optionLabels.tools} defaultOpen={isOpen}>
      <div className="flex flex-col gap-4">
        <Field
          label="Tools"
          aside="Optional"
          help="A JSON list in the format of “tools” in the API. You enter each result yourself."
          error={toolsProblem(tools)}
        >
          <Textarea
            rows={4}
            spellCheck={false}
            className="font-mono text-xs"
            placeholder={EXAMPLE}
            value={tools.definitions}
            onChange={(event) => onChange({ ...tools, definitions: event.target.value })}
          />
        </Field>
        <Checkbox
          label="Require a tool call in every answer"
          checked={tools.required}
          onChange={(required) => onChange({ ...tools, required })}
        />
      </div>
    </Disclosure>
  );
}

const EXAMPLE = `[{"type": "function",
  "function": {"name": "weather"}}]`;
