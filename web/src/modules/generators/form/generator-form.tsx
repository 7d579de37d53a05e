import { editsPictures, type Generator } from '@bakehouse/contract/generators/generator';
import { effectiveValues } from '@bakehouse/contract/generators/parameters/parameters';
import { useLocation } from '@tanstack/react-router';
import { type ComponentProps, type FormEvent, type ReactNode, useState } from 'react';
import { loadable } from '../../../lib/loadable.tsx';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { DeferredPart } from '../../../ui/deferred-part.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { type FormField, FormFields } from '../../../ui/form-fields.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { SourceField } from '../../generations/deferred-parts.ts';
import { GenerateBar } from '../generate-bar.tsx';
import { useGeneratorPage } from '../generator-context.ts';
import { ModelField } from '../model-field.tsx';
import {
  clampedValues,
  correctionsOf,
  type FormValues,
  problemsOf,
  resetValues,
  visibleFields,
} from './form-values.ts';
import { PromptField } from './prompt-field.tsx';
import { promptHelp, promptPlaceholder, SOURCE_NOTE } from './starter-prompt.ts';
import type { Draft } from './use-draft.ts';
import { isServed } from './waits-for.ts';

/** Its code comes apart: a visitor has no LoRA. */
const LoraField = loadable(async () => (await import('./lora-field.tsx')).LoraField);

/** Prompt and settings, rendered from the generator's table, and what stands between them and a result. */
export function GeneratorForm({ id }: { id: string }) {
  const { ownOnly, userId, isUserKnown, draft, change: onChange, serving, generation } = useGeneratorPage();
  const { form: generator, isStarter } = serving;
  const [problems, setProblems] = useState<Partial<Record<string, string>>>({});
  const [keyMissing, setKeyMissing] = useState(false);
  const picture = generator.fields.find((field) => field.kind === 'picture');
  const edits = editsPictures(generator);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!isServed(serving.by, ownOnly) || !isUserKnown) return;
    leaveField(event.currentTarget);
    const found = problemsOf(generator, draft);
    const isRight = Object.keys(found).length === 0;
    focusFirstInvalid(event.currentTarget, () => {
      setProblems(found);
      setKeyMissing(isRight && userId === undefined);
    });
    if (isRight && userId !== undefined) generation.start();
  }

  function change(changed: Partial<Draft>) {
    onChange(changed);
    setProblems({});
  }

  const pictureField = picture && (
    <PictureField
      label={picture.isOptional ? `${picture.label} (optional)` : picture.label}
      source={draft.source}
      onChange={(source) => change({ source })}
      problem={problems[picture.name]}
      note={isStarter && edits ? SOURCE_NOTE : undefined}
    />
  );
  return (
    <Card>
      <form id={id} onSubmit={submit} noValidate className="grid gap-5">
        {edits && pictureField}
        <PromptField
          rows={5}
          value={draft.prompt}
          onChange={(prompt) => change({ prompt })}
          problem={problems.prompt}
          help={promptHelp(draft.prompt, { edits, isStarter })}
          placeholder={promptPlaceholder({ edits, isStarter })}
        />
        {!edits && pictureField}
        <Settings problems={problems} onChange={change} />
        <ResetButton onReset={() => change({ values: resetValues(generator, draft.values) })} />
        <NotBegun keyMissing={keyMissing} refusal={generation.refusal} />
        <GenerateBar />
      </form>
    </Card>
  );
}

type SettingsProps = {
  problems: Partial<Record<string, string>>;
  onChange: (changed: Partial<Draft>) => void;
};

/** What the generator's table asks for below the prompt, and with what. */
function Settings({ problems, onChange }: SettingsProps) {
  const { userId, serving, draft } = useGeneratorPage();
  const { form: generator } = serving;
  const { values } = draft;
  const { leave, explain } = useCorrections(generator, values, (right) => onChange({ values: right }));
  return (
    <div className="grid gap-5" onBlur={() => afterPress(leave)}>
      <FormFields
        fields={visibleFields(generator, values).map(explain)}
        values={effectiveValues(generator, values)}
        problems={problems}
        onChange={(changed) => onChange({ values: { ...values, ...changed } as FormValues })}
      />
      {/* Below the rest: one's own deployments are known late, and nothing may move. */}
      <ModelField />
      {userId !== undefined && (
        <DeferredPart>
          <LoraField
            generator={generator}
            draft={{ values }}
            onChange={onChange}
            userId={userId}
            explain={explain}
          />
        </DeferredPart>
      )}
    </div>
  );
}

/** A number that has been typed is put right once its field is left, which is said there; before, more may be typed. */
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
    // A number that has been changed since is another one.
    const isSame = corrected && Object.is(corrected.values[field.name], values[field.name]);
    const correction = isSame && corrected.texts[field.name];
    return { ...field, help: <NumberHelp text={field.help} correction={correction} /> };
  }
  return { leave, explain };
}

/** A sentence that came now would move the button that is being pressed from under the pointer: its click would be lost. */
function afterPress(work: () => void): void {
  if (!document.querySelector(':active')) return work();
  const stop = new AbortController();
  for (const type of ['pointerup', 'pointercancel'])
    addEventListener(
      type,
      () => {
        stop.abort();
        // Once the click is over.
        setTimeout(work);
      },
      { signal: stop.signal },
    );
}

/** Under a number: what it is for, its bounds, and what was typed in its place if that did not fit. */
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

/** Enter submits from inside a field, whose number is put right as if it were left. */
function leaveField(form: HTMLFormElement) {
  const field = document.activeElement;
  if (!(field instanceof HTMLInputElement && form.contains(field))) return;
  field.blur();
  field.focus();
}

function ResetButton({ onReset }: { onReset: () => void }) {
  return (
    <Button variant="ghost" size="sm" className="-mt-2 -ml-2.5 justify-self-start" onClick={onReset}>
      Reset settings
    </Button>
  );
}

/** Its code comes apart: few generators take a picture. */
function PictureField(props: ComponentProps<typeof SourceField>) {
  return (
    <DeferredPart pending={<Skeleton className="h-49 rounded-xl" />}>
      <SourceField {...props} />
    </DeferredPart>
  );
}

function NotBegun({ keyMissing, refusal }: { keyMissing: boolean; refusal: string | null }) {
  return (
    <>
      {keyMissing && <KeyMissing />}
      {refusal && <Callout tone="bad">{refusal}</Callout>}
    </>
  );
}

/** A visitor has no key. What is typed is there again after signing in. */
function KeyMissing() {
  const next = useLocation({ select: ({ href }) => href });
  return (
    <Callout
      tone="bad"
      title="API key not found"
      action={
        <ButtonLink to="/" state={{ next }} size="sm">
          Sign in
        </ButtonLink>
      }
    >
      Sign in to generate. Your prompt stays here.
    </Callout>
  );
}
