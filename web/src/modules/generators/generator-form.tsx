import type { Provider } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { effectiveValues } from '@bakehouse/contract/generators/parameters';
import { useLocation } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { FileDrop } from '../../ui/file-drop.tsx';
import { FormFields } from '../../ui/form-fields.tsx';
import { QueryView, type ViewedQuery } from '../../ui/query-view.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Textarea } from '../../ui/textarea.tsx';
import { useSessionUser } from '../accounts/api.ts';
import { type FormValues, problemsOf, shownFields } from './form-values.ts';
import type { Draft } from './use-draft.ts';
import { isServed, waitsFor } from './waits-for.ts';

type Props = {
  generator: Generator;
  ownOnly: boolean;
  draft: Draft;
  onChange: (changed: Partial<Draft>) => void;
  /** Who serves which generator. */
  served: ViewedQuery<unknown>;
  servedBy: readonly Provider[] | undefined;
};

/** Prompt and settings, drawn from the generator's table, and what stands between them and a result. */
export function GeneratorForm({ generator, ownOnly, draft, onChange, served, servedBy = [] }: Props) {
  const user = useSessionUser();
  const [problems, setProblems] = useState<Partial<Record<string, string>>>({});
  const [keyMissing, setKeyMissing] = useState(false);
  const open = isServed(servedBy, ownOnly);
  const picture = generator.fields.find((field) => field.kind === 'picture');

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!open) return;
    const found = problemsOf(generator, draft.prompt, draft.values);
    setProblems(found);
    setKeyMissing(Object.keys(found).length === 0 && !user);
    if (found.prompt) event.currentTarget.querySelector('textarea')?.focus();
  }

  function change(changed: Partial<Draft>) {
    onChange(changed);
    setProblems({});
  }

  return (
    <Card>
      <form onSubmit={submit} noValidate className="grid gap-5">
        {picture && <PictureField label={picture.label} />}
        <Field label="Prompt" error={problems.prompt}>
          <Textarea
            name="prompt"
            rows={5}
            value={draft.prompt}
            onChange={(event) => change({ prompt: event.target.value })}
            placeholder={
              picture
                ? 'What should be different?'
                : 'A baker takes a loaf out of a wood-fired oven, early light, flour in the air'
            }
          />
        </Field>
        <FormFields
          fields={shownFields(generator, draft.values)}
          values={effectiveValues(generator, draft.values)}
          problems={problems}
          onChange={(changed) => change({ values: { ...draft.values, ...changed } as FormValues })}
        />
        {keyMissing && <KeyMissing />}
        <div className="grid gap-3">
          <Button type="submit" variant="primary" size="lg" disabled={!open} aria-describedby="waits-for">
            Generate
          </Button>
          <QueryView
            query={served}
            failed="Whether it is served could not be read"
            pending={<Skeleton className="h-10" />}
            compact
          >
            {() =>
              !open && (
                <p id="waits-for" className="text-balance text-center text-[0.8125rem] text-muted">
                  {waitsFor(generator, ownOnly)}
                </p>
              )
            }
          </QueryView>
        </div>
      </form>
    </Card>
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

function PictureField({ label }: { label: string }) {
  const [name, setName] = useState<string | null>(null);
  return (
    <Field label={label} help={name}>
      <FileDrop
        multiple={false}
        accept="image/png,image/jpeg,image/webp"
        hint="PNG, JPEG or WebP"
        onFiles={([file]) => setName(file?.name ?? null)}
      />
    </Field>
  );
}
