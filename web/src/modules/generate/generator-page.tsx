import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { useMatch } from '@tanstack/react-router';
import { lazy, Suspense, useRef } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { tabClearCount } from '../../lib/tab-storage.ts';
import { useUrlSearch } from '../../lib/url-search.ts';
import { Badge } from '../../ui/badge.tsx';
import { Boundary, LazyPart } from '../../ui/boundary.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { sessionQuery } from '../accounts/session.ts';
import type { PrefilledInput } from '../gallery/actions/remix.ts';
import { generationsQuery, historyOf } from '../gallery/generation-queries.ts';
import { GeneratorForm } from './form/generator-form.tsx';
import { openingValues } from './form/qualities.ts';
import { isServed, unavailableReason } from './form/unavailable-reason.ts';
import { type Draft, useDraft } from './form/use-draft.ts';
import { PREPARING_ID } from './generate-bar.tsx';
import { GeneratorContext, useGeneratorPage } from './generator-context.ts';
import { GeneratorList } from './generator-list.tsx';
import { OutputFrame } from './output-frame.tsx';
import { servedGeneratorsQuery } from './served-generators.ts';
import { UnavailableGenerator } from './unavailable-generator.tsx';
import { useGenerate } from './use-generate.ts';
import { useServing } from './use-serving.ts';

type Serving = ReturnType<typeof useServing>;

const FORM_ID = 'generator';

/** For signed-in users only. */
const loadOwnResults = () => import('./own-results.tsx');
const OwnResults = lazy(async () => ({ default: (await loadOwnResults()).OwnResults }));
const OwnHistory = lazy(async () => ({ default: (await loadOwnResults()).OwnHistory }));

/** Reads what determines the layout of a generator's page. */
export async function readGenerator(name: GeneratorName): Promise<void> {
  const readHistory = async () => {
    const user = await queryClient.ensureQueryData(sessionQuery);
    if (!user) return;
    const history = generationsQuery(user.id, historyOf(name));
    await Promise.all([loadOwnResults(), queryClient.ensureInfiniteQueryData(history)]);
  };
  await Promise.allSettled([queryClient.ensureQueryData(servedGeneratorsQuery), readHistory()]);
}

/** The page of the generator in the URL. */
export function GeneratorPage() {
  // Matches this page's own path, which does not change while navigating away.
  const { name, ownOnly } = useMatch({ strict: false, select: ({ pathname }) => parsePath(pathname) });
  const forgotten = tabClearCount.use();
  // Remounts for another generator, and after a sign-out to clear the draft.
  return <Page key={`${name} ${forgotten}`} name={name} ownOnly={ownOnly} />;
}

function Page({ name, ownOnly }: { name: GeneratorName; ownOnly: boolean }) {
  const session = useQuery(sessionQuery);
  const userId = session.data?.id;
  const { typed, change, recordEdit } = useBroughtDraft(name);
  const serving = useServing(name, { ownOnly, userId });
  const draft = { ...typed, values: openingValues(name, serving.isStarter, typed.values) };
  const isOpen = isServed(serving.by, ownOnly) && userId !== undefined;
  const generation = useGenerate(name, { serving, draft, userId, isServed: isOpen }, recordEdit);
  const { place, tryPrompt } = useExamples(change);
  const form = formState(name, ownOnly, serving);
  // Examples suit the model that answers.
  const examplesOf = serving.isStandIn ? starterFor(name).of : name;
  const empty = <Empty name={examplesOf} ratio={ratioOf(name, serving, draft)} onExample={tryPrompt} />;
  const isUserKnown = !session.isPending;
  return (
    <GeneratorContext
      value={{ name, ownOnly, userId, isUserKnown, draft, change, serving, generation, isOpen }}
    >
      <Title name={name} ownOnly={ownOnly} />
      <Preparing />
      {form === 'none' ? (
        <UnavailableGenerator />
      ) : (
        <div ref={place} className="grid items-start gap-6 lg:grid-cols-[minmax(0,26rem)_minmax(0,1fr)]">
          {form === 'pending' ? (
            <FormToCome />
          ) : (
            <div className="grid gap-4">
              {serving.isStandIn && <NotConnected />}
              <GeneratorForm id={FORM_ID} />
            </div>
          )}
          {isOpen ? (
            <LazyPart pending={empty}>
              <OwnResults form={FORM_ID} empty={empty} />
            </LazyPart>
          ) : (
            empty
          )}
        </div>
      )}
      {/* One boundary, because the history would push the list down. */}
      <Suspense>
        {isOpen && (
          <Boundary>
            <OwnHistory />
          </Boundary>
        )}
        <section aria-label="Other generators" className="mt-10">
          <h2 className="mb-3 font-semibold">Other generators</h2>
          <GeneratorList served={serving.served.data} without={name} ownOnly={ownOnly} folds />
        </section>
      </Suspense>
    </GeneratorContext>
  );
}

/**
 * Returns whether to show the form: not if nothing can generate, because its button would always be disabled.
 * A generator with a starter shows it while loading.
 */
function formState(name: GeneratorName, ownOnly: boolean, serving: Serving): 'there' | 'pending' | 'none' {
  const { starter }: Generator = generators[name];
  if (isServed(serving.by, ownOnly) || serving.isBeingPrepared || serving.served.isError) return 'there';
  if (serving.isLoading) return starter ? 'there' : 'pending';
  return 'none';
}

function FormToCome() {
  return (
    <LoadingRegion>
      <Skeleton className="h-120 rounded-xl" />
    </LoadingRegion>
  );
}

/** A notice that the starter model is still being prepared. */
function Preparing() {
  const { name, ownOnly, serving } = useGeneratorPage();
  if (!serving.isBeingPrepared || isServed(serving.by, ownOnly)) return null;
  return (
    <div id={PREPARING_ID}>
      <Callout className="mb-6">
        {unavailableReason(generators[name], { ownOnly, isBeingPrepared: true })}
      </Callout>
    </div>
  );
}

/** A notice that another generator's starter answers. */
function NotConnected() {
  const { name, serving } = useGeneratorPage();
  const { data: user } = useQuery(sessionQuery);
  const { title, retired }: Generator = generators[name];
  const isConnectable = serving.served.data?.[name]?.is_connectable === true;
  return (
    <Callout
      title={retired ?? `${title} is not connected to this server`}
      action={
        user?.is_operator &&
        isConnectable && (
          <ButtonLink to="/docs/$" params={{ _splat: 'connect-models' }} size="sm">
            How to connect it
          </ButtonLink>
        )
      }
    >
      A small starter model is used instead.
    </Callout>
  );
}

function Title({ name, ownOnly }: { name: GeneratorName; ownOnly: boolean }) {
  const { title, about, maker, makes } = generators[name];
  const { isStarter, isStandIn, provider } = useGeneratorPage().serving;
  return (
    <PageHeader
      title={title}
      description={isStarter && !isStandIn ? about : `${about} Made by ${maker}.`}
      badge={
        <>
          <Badge>{makes === 'image' ? 'Pictures' : 'Videos'}</Badge>
          {provider?.kind === 'starter' && <Badge tone="info">Starter model</Badge>}
          {ownOnly && <Badge tone="accent">Own models</Badge>}
        </>
      }
    />
  );
}

/** Fills the form with an example prompt and focuses it. */
function useExamples(onChange: (changed: Partial<Draft>) => void) {
  const place = useRef<HTMLDivElement>(null);
  const tryPrompt = (prompt: string) => {
    onChange({ prompt });
    place.current?.querySelector('textarea')?.focus();
  };
  return { place, tryPrompt };
}

type EmptyProps = { name: GeneratorName; ratio: string; onExample: (prompt: string) => void };

/** Placeholder for a result. */
function Empty({ name, ratio, onExample }: EmptyProps) {
  return (
    <OutputFrame
      makes={generators[name].makes}
      ratio={ratio}
      examples={generators[name].examples ?? []}
      onExample={onExample}
    />
  );
}

/** The draft with values from the URL, which are then removed from the URL. */
function useBroughtDraft(name: GeneratorName) {
  const [brought, change] = useUrlSearch<PrefilledInput>();
  const nothing = {
    prompt: undefined,
    settings: undefined,
    source: undefined,
    source_output: undefined,
    same_source_as: undefined,
  };
  return useDraft(name, brought, () => change(nothing, { resetScroll: false }));
}

function ratioOf(name: GeneratorName, { form }: Serving, { values }: Pick<Draft, 'values'>): string {
  const usual = generators[name].makes === 'video' ? '16:9' : '1:1';
  return String(form.fixed?.aspect_ratio ?? values.aspect_ratio ?? usual);
}

function parsePath(pathname: string): { name: GeneratorName; ownOnly: boolean } {
  const parts = pathname.split('/').filter(Boolean);
  const name = generatorNames.find((each) => each === parts.at(-1));
  if (!name) throw new Error(`${pathname} is not the page of a generator`);
  return { name, ownOnly: parts[0] === 'bakery' };
}
