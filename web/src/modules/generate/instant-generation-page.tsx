import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ComponentProps, type FormEvent, useState } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { Boundary } from '../../ui/boundary.tsx';
import { Button } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { focusFirstInvalid } from '../../ui/focus-first-invalid.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Select } from '../../ui/select.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { sessionQuery, useUser } from '../accounts/session.ts';
import { RecentGenerations } from '../gallery/gallery/recent-generations.tsx';
import { recentGenerationsQuery } from '../gallery/generation-queries.ts';
import { Price } from '../gallery/view/price.tsx';
import { problemsOf } from './form/form-values.ts';
import { PromptField } from './form/prompt-field.tsx';
import { openingValues } from './form/qualities.ts';
import { promptHelp, promptPlaceholder } from './form/starter-prompt.ts';
import {
  isConnected,
  isServed,
  type ServedBy,
  servedByLabel,
  unavailableReason,
} from './form/unavailable-reason.ts';
import { type Draft, readStoredDraft } from './form/use-draft.ts';
import { GeneratorList } from './generator-list.tsx';
import { servedGeneratorsQuery } from './served-generators.ts';
import { useGenerate } from './use-generate.ts';
import { useServing } from './use-serving.ts';

/** The form's values when the page was left. */
type QuickFormSearch = { generator?: GeneratorName; prompt?: string };

/** Reads what determines the heights of the page's parts. */
export async function readQuickForm(): Promise<void> {
  const readRecent = async () => {
    const user = await queryClient.ensureQueryData(sessionQuery);
    if (user) await queryClient.ensureInfiniteQueryData(recentGenerationsQuery(user.id));
  };
  await Promise.allSettled([queryClient.ensureQueryData(servedGeneratorsQuery), readRecent()]);
}

/** A quick form: choose a generator, type a prompt, and see the result on the generator's page. */
export function InstantGenerationPage() {
  const served = useQuery(servedGeneratorsQuery);
  return (
    <>
      <PageHeader
        title="Instant Generation"
        description="Pick a generator and describe what you want to see."
      />
      <div className="grid gap-6">
        <QuickForm />
        <Boundary>
          <RecentGenerations title="Recent generations" />
        </Boundary>
        <section aria-label="All generators">
          <h2 className="mb-3 font-semibold">All generators</h2>
          <GeneratorList served={served.data} />
        </section>
      </div>
    </>
  );
}

const options = generatorNames
  // Editors need a picture, which only their own page accepts.
  .filter((name) => !editsPictures(generators[name]))
  .map((name) => ({
    value: name,
    label: generators[name].title,
    makes: generators[name].makes === 'image' ? 'Pictures' : 'Videos',
  }));

/** Returns connected generators first and marks the others; marks none while unknown. */
function sortOptions(served: ServedBy | undefined) {
  const works = (name: GeneratorName) => !served || isConnected(name, served, false);
  return options
    .map(({ makes, ...one }) => ({
      ...one,
      description: works(one.value) ? makes : `${makes} · ${servedByLabel(served?.[one.value])}`,
    }))
    .toSorted((a, b) => Number(works(b.value)) - Number(works(a.value)));
}

function QuickForm() {
  const navigate = useNavigate();
  const served = useQuery(servedGeneratorsQuery);
  const left = useSearch({ strict: false }) as QuickFormSearch;
  const [chosen, setChosen] = useState(left.generator);
  // Defaults to a connected generator, otherwise one in preparation.
  const name =
    chosen ??
    options.find(({ value }) => isConnected(value, served.data ?? {}, false))?.value ??
    options.find(({ value }) => served.data?.[value]?.is_being_prepared)?.value ??
    generatorNames[0];
  const [prompt, setPrompt] = useState(left.prompt ?? '');
  const [problem, setProblem] = useState<string>();
  const userId = useUser().id;
  const serving = useServing(name, { ownOnly: false, userId });
  const { form, isStarter } = serving;
  const isOpen = isServed(serving.by, false);
  const values = openingValues(name, isStarter, readStoredDraft(name).values);
  const draft: Draft = { prompt, values, source: null };
  const generation = useGenerate(name, { serving, draft, userId, isServed: isOpen }, () => void openPage());

  /** Opens the generator's page, which shows the progress. Back restores this form. */
  async function openPage() {
    await navigate({ to: '/instant-generation', search: { generator: name, prompt }, replace: true });
    await navigate({ to: `/${name}`, search: { prompt } });
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (served.isPending) return;
    const found = problemsOf(form, draft);
    if (found.prompt !== undefined)
      return focusFirstInvalid(event.currentTarget, () => setProblem(found.prompt));
    // The generator's page shows why it cannot start.
    if (!isOpen || Object.keys(found).length > 0) return void openPage();
    generation.start();
  }

  return (
    <Card>
      <form onSubmit={submit} noValidate className="grid gap-5">
        <div className="grid gap-5 sm:grid-cols-[14rem_minmax(0,1fr)]">
          <Field label="Generator" help={generators[name].about}>
            <Select value={name} onChange={setChosen} options={sortOptions(served.data)} />
          </Field>
          <PromptField
            rows={3}
            value={prompt}
            onChange={(typed) => {
              setPrompt(typed);
              setProblem(undefined);
            }}
            problem={problem}
            help={promptHelp(prompt, { edits: false, isStarter })}
            placeholder={promptPlaceholder({ edits: false, isStarter, makes: form.makes })}
          />
        </div>
        {generation.refusal && <Callout tone="bad">{generation.refusal}</Callout>}
        <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
          <div className="min-w-0 flex-1 basis-64 text-compact text-muted">
            <PriceOrReason name={name} quote={isOpen && generation.quote} />
          </div>
          <Button type="submit" variant="primary" loading={generation.isStarting}>
            {isOpen || served.isPending ? 'Generate' : 'Continue'}
          </Button>
        </div>
      </form>
    </Card>
  );
}

type PriceProps = { name: GeneratorName; quote: false | ComponentProps<typeof Price>['quote'] };

/** The price of a picture with the settings of the generator's page, or what the generator waits for. */
function PriceOrReason({ name, quote }: PriceProps) {
  return (
    <QueryView
      query={useQuery(servedGeneratorsQuery)}
      failed="Could not check whether this model is available"
      pending={
        <LoadingRegion>
          <Skeleton className="h-4 w-72 max-w-full" />
        </LoadingRegion>
      }
      compact
    >
      {(servedBy) =>
        quote ? (
          <Price quote={quote} />
        ) : (
          unavailableReason(generators[name], {
            ownOnly: false,
            isBeingPrepared: servedBy[name]?.is_being_prepared ?? false,
          })
        )
      }
    </QueryView>
  );
}
