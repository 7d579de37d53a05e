import { acceptsMask, editsPictures } from '@bakehouse/contract/generators/generator';
import { useLocation } from '@tanstack/react-router';
import { type ComponentProps, type FormEvent, lazy, useState } from 'react';
import { cx } from '../../../lib/cx.ts';
import { LazyPart } from '../../../ui/boundary.tsx';
import { ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import type { MaskField as MaskFieldPart } from '../../gallery/edit-picture/mask/mask-field.tsx';
import type { SourceField as SourceFieldPart } from '../../gallery/edit-picture/source-field.tsx';
import { GenerateBar } from '../generate-bar.tsx';
import { useGeneratorPage } from '../generator-context.ts';
import { isAlwaysVisible, problemsOf } from './form-values.ts';
import { PromptField } from './prompt-field.tsx';
import { QualityField } from './quality-field.tsx';
import { promptHelp, promptPlaceholder, sourceNote } from './starter-prompt.ts';
import { isServed } from './unavailable-reason.ts';
import type { Draft } from './use-draft.ts';

/** Loaded later: most users change no settings. */
const GeneratorSettings = lazy(async () => ({
  default: (await import('./generator-settings.tsx')).GeneratorSettings,
}));

/** Loaded later: few generators accept a picture. */
const SourceField = lazy(async () => ({
  default: (await import('../../gallery/edit-picture/source-field.tsx')).SourceField,
}));

const MaskField = lazy(async () => ({
  default: (await import('../../gallery/edit-picture/mask/mask-field.tsx')).MaskField,
}));

/** The form rendered from the generator's table: prompt, settings and blocking problems. */
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

  const note = isStarter ? sourceNote({ edits }) : undefined;
  const pictureField = picture && (
    <PictureField
      label={picture.isOptional ? `${picture.label} (optional)` : picture.label}
      userId={userId}
      source={draft.source}
      onChange={(source) => change({ source, mask: undefined })}
      problem={problems[picture.name]}
      note={acceptsMask(generator) ? undefined : note}
    />
  );
  return (
    <Card>
      <form id={id} onSubmit={submit} noValidate className="grid gap-5">
        {edits && pictureField}
        <AreaField onChange={(mask) => change({ mask })} note={note} />
        <PromptField
          rows={5}
          value={draft.prompt}
          onChange={(prompt) => change({ prompt })}
          problem={problems.prompt}
          help={promptHelp(draft.prompt, { edits, isStarter })}
          placeholder={promptPlaceholder({ edits, isStarter, makes: generator.makes })}
        />
        {!edits && pictureField}
        <QualityField onChange={change} />
        <LazyPart pending={<SettingsSkeleton />}>
          <GeneratorSettings problems={problems} onChange={change} />
        </LazyPart>
        <NotBegun keyMissing={keyMissing} refusal={generation.refusal} />
        <GenerateBar />
      </form>
    </Card>
  );
}

/** Enter submits inside a field, so its number is clamped as on blur. */
function leaveField(form: HTMLFormElement) {
  const field = document.activeElement;
  if (!(field instanceof HTMLInputElement && form.contains(field))) return;
  field.blur();
  field.focus();
}

/** Placeholder of the same height: visible fields in two columns and the "Advanced" line. */
function SettingsSkeleton() {
  const { fields } = useGeneratorPage().serving.form;
  return (
    <div className="grid gap-5">
      <div className="grid gap-5 empty:hidden sm:grid-cols-2">
        {fields.filter(isAlwaysVisible).map(({ name }) => (
          <Skeleton key={name} className="h-15.5 rounded-lg" />
        ))}
      </div>
      <Skeleton className="h-12 rounded-xl" />
    </div>
  );
}

/** The picture to edit, once it is known whether there is a user. */
function PictureField(props: ComponentProps<typeof SourceFieldPart>) {
  const { isUserKnown } = useGeneratorPage();
  // A signed-in user has one more button.
  const height = props.userId === undefined ? 'h-49' : 'h-48.5 sm:h-50.5 lg:h-56';
  const pending = <Skeleton className={cx('rounded-xl', height)} />;
  if (!isUserKnown) return pending;
  return (
    <LazyPart pending={pending}>
      <SourceField {...props} />
    </LazyPart>
  );
}

/** The area of the chosen picture to change, if the model takes a mask. */
function AreaField(props: Pick<ComponentProps<typeof MaskFieldPart>, 'onChange' | 'note'>) {
  const { draft, serving } = useGeneratorPage();
  if (!draft.source || !acceptsMask(serving.form)) return null;
  return (
    <LazyPart pending={<Skeleton className="h-15.5 rounded-lg" />}>
      <MaskField {...props} source={draft.source} mask={draft.mask} />
    </LazyPart>
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

/** A visitor has no key. The draft is restored after signing in. */
function KeyMissing() {
  const next = useLocation({ select: ({ href }) => href });
  return (
    <div role="alert">
      <Callout
        title="Sign in to generate"
        action={
          <ButtonLink to="/" state={{ next }} variant="primary" size="sm">
            Sign in
          </ButtonLink>
        }
      >
        Your prompt will still be here. <small className="block text-xs">API key not found</small>
      </Callout>
    </div>
  );
}
