import type { Generator } from '@bakehouse/contract/generators/generator';
import { effectiveValues } from '@bakehouse/contract/generators/parameters/parameters';
import { type ReactNode, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { type FormField, FormFields } from '../../../ui/form-fields.tsx';
import { useGeneratorPage } from '../generator-context.ts';
import { ModelField } from '../model-field.tsx';
import { clampedValues, correctionsOf, type FormValues, resetValues, visibleFields } from './form-values.ts';
import { LoraField } from './lora-field.tsx';
import type { Draft } from './use-draft.ts';

type Props = {
  problems: Partial<Record<string, string>>;
  onChange: (changed: Partial<Draft>) => void;
};

/** The generator's settings below the prompt. */
export function GeneratorSettings({ problems, onChange }: Props) {
  const { userId, serving, draft } = useGeneratorPage();
  const { form: generator } = serving;
  const { values } = draft;
  const { leave, explain } = useCorrections(generator, values, (right) => onChange({ values: right }));
  const advanced = new Set(generator.fields.filter(({ isAdvanced }) => isAdvanced).map(({ name }) => name));
  const fields = visibleFields(generator, values).map(explain);
  const inSight = fields.filter(({ name }) => !advanced.has(name));
  const folded = fields.filter(({ name }) => advanced.has(name));
  const form = {
    values: effectiveValues(generator, values),
    problems,
    onChange: (changed: Record<string, unknown>) =>
      onChange({ values: { ...values, ...changed } as FormValues }),
  };
  return (
    <div className="grid gap-5" onBlur={() => afterPress(leave)}>
      {inSight.length > 0 && <FormFields fields={inSight} {...form} />}
      {/* Rendered last: the user's deployments load late and must not shift the layout. */}
      <ModelField />
      {userId !== undefined && (
        <LoraField
          generator={generator}
          draft={{ values }}
          onChange={onChange}
          userId={userId}
          explain={explain}
        />
      )}
      {folded.length > 0 && (
        <Disclosure title="Advanced">
          <FormFields fields={folded} {...form} />
          <ResetButton onReset={() => onChange({ values: resetValues(generator, values) })} />
        </Disclosure>
      )}
    </div>
  );
}

/** Corrects numbers on blur and explains the corrections below the field. */
function useCorrections(generator: Generator, values: FormValues, onChange: (values: FormValues) => void) {
  const [corrected, setCorrected] = useState<{
    values: FormValues;
    texts: Partial<Record<string, string>>;
  }>();
  function leave() {
    const texts = correctionsOf(generator, values);
    if (Object.keys(texts).length === 0) return;
    const right = clampedValues(generator, values);
    setCorrected({ values: right, texts });
    onChange(right);
  }
  function explain(field: FormField<string>): FormField<string> {
    if (field.kind !== 'number') return field;
    // A changed number needs no explanation any more.
    const isSame = corrected && Object.is(corrected.values[field.name], values[field.name]);
    const correction = isSame && corrected.texts[field.name];
    return { ...field, help: <NumberHelp text={field.help} correction={correction} /> };
  }
  return { leave, explain };
}

/**
 * Delays work while the pointer is down: a layout shift would move the pressed button, and its click would be
 * lost.
 */
function afterPress(work: () => void): void {
  if (!document.querySelector(':active')) return work();
  const stop = new AbortController();
  for (const type of ['pointerup', 'pointercancel'])
    addEventListener(
      type,
      () => {
        stop.abort();
        // Runs after the click.
        setTimeout(work);
      },
      { signal: stop.signal },
    );
}

/** Help below a number: its purpose, its bounds, and any correction. */
function NumberHelp({ text, correction }: { text: ReactNode; correction: string | false | undefined }) {
  return (
    <>
      {text}
      <span role="status" className="block text-warn">
        {correction}
      </span>
    </>
  );
}

function ResetButton({ onReset }: { onReset: () => void }) {
  return (
    <Button variant="ghost" size="sm" className="mt-3 -ml-2.5" onClick={onReset}>
      Reset settings
    </Button>
  );
}
