import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { editsPictures, type Generator } from '@bakehouse/contract/generators/generator';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { useMatch } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { loadable } from '../../lib/loadable.tsx';
import { tabClearCount } from '../../lib/tab-storage.ts';
import { useUrlSearch } from '../../lib/url-search.ts';
import { type InitialQuery, useInitialQueries } from '../../lib/use-initial-queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Boundary } from '../../ui/boundary.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { BrokenPart, DeferredPart } from '../../ui/deferred-part.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { sessionQuery } from '../accounts/session.ts';
import type { PrefilledInput } from '../generations/actions/remix.ts';
import { EditStart, GeneratorResults, PictureHistory } from '../generations/deferred-parts.ts';
import { historyOf } from '../generations/generation-queries.ts';
import { useGenerations } from '../generations/use-generations.ts';
import { GeneratorForm } from './form/generator-form.tsx';
import { openingValues } from './form/qualities.ts';
import { isServed, unavailableReason } from './form/unavailable-reason.ts';
import { type Draft, useDraft } from './form/use-draft.ts';
import { PREPARING_ID } from './generate-bar.tsx';
import { GeneratorContext, useGeneratorPage } from './generator-context.ts';
import { OutputFrame } from './output-frame.tsx';
import { useGenerate } from './use-generate.ts';
import { useServing } from './use-serving.ts';

type Serving = ReturnType<typeof useServing>;

const FORM_ID = 'generator';

/** Loaded later: below the first screen. */
const GeneratorList = loadable(async () => (await import('./generator-list.tsx')).GeneratorList);
const UseFromCode = loadable(async () => (await import('./use-from-code.tsx')).UseFromCode);

/** Shown instead of the form. */
const UnavailableGenerator = loadable(
  async () => (await import('./unavailable-generator.tsx')).UnavailableGenerator,
);

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
  const history = useGenerations(userId, historyOf(name));
  // Content below waits until the height of the content above is known.
  const results = useFetched(GeneratorResults, isOpen);
  const answered = useInitialQueries(
    session,
    serving.served,
    ...(userId === undefined ? [] : [history]),
    ...(isOpen ? [results] : []),
  );
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
        <DeferredPart pending={<Skeleton className="h-60 rounded-xl" />}>
          <UnavailableGenerator />
        </DeferredPart>
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
          {isOpen && answered ? <Results empty={empty} /> : empty}
        </div>
      )}
      {answered && <History />}
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

/** Earlier results, code samples and the other generators. */
function History() {
  const { name, ownOnly, serving, generation, isOpen } = useGeneratorPage();
  const { awaited, isStarting } = generation;
  return (
    <Suspense>
      {isOpen && (
        // If its code fails to load, the content below stays.
        <Boundary fallback={BrokenPart}>
          <PictureHistory generator={name} awaited={isStarting && awaited ? awaited.source : null} />
        </Boundary>
      )}
      {isOpen && (
        <DeferredPart pending={<Skeleton className="mt-10 h-12" />}>
          <UseFromCode />
        </DeferredPart>
      )}
      <section aria-label="Other generators" className="mt-10">
        <h2 className="mb-3 font-semibold">Other generators</h2>
        <DeferredPart pending={<Skeleton className="h-45 sm:h-31" />}>
          <GeneratorList served={serving.served.data} without={name} ownOnly={ownOnly} folds />
        </DeferredPart>
      </section>
    </Suspense>
  );
}

function Title({ name, ownOnly }: { name: GeneratorName; ownOnly: boolean }) {
  const { title, about, maker, makes } = generators[name];
  const { isStarter, isStandIn } = useGeneratorPage().serving;
  return (
    <PageHeader
      title={title}
      description={isStarter && !isStandIn ? about : `${about} Made by ${maker}.`}
      badge={
        <>
          <Badge>{makes === 'image' ? 'Pictures' : 'Videos'}</Badge>
          {ownOnly && <Badge tone="accent">Own models</Badge>}
        </>
      }
    />
  );
}

/** Tracks loading of a component's code as a first read; a failure is shown by the component. */
function useFetched(
  part: Pick<typeof GeneratorResults, 'preload' | 'isLoaded'>,
  isWanted: boolean,
): InitialQuery {
  const [isFetched, setFetched] = useState(part.isLoaded);
  useEffect(() => {
    if (isWanted) void part.preload().then(() => setFetched(true));
  }, [part, isWanted]);
  return { isPending: !isFetched, failureCount: 0 };
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

/** The current result; for an edit, also its upload. */
function Results({ empty }: { empty: ReactNode }) {
  const { name, serving, draft, change, generation } = useGeneratorPage();
  const { awaited, shown, show } = generation;
  const startOver = () => {
    generation.reset();
    change({ prompt: '', source: null });
  };
  return (
    <DeferredPart pending={empty}>
      {awaited ? (
        <EditStart {...awaited} form={FORM_ID} onStartOver={startOver} />
      ) : (
        <GeneratorResults
          generator={name}
          shown={shown}
          wanted={{ source: draft.source, model: serving.namedModel }}
          onShow={show}
          empty={empty}
          onStartOver={editsPictures(generators[name]) ? startOver : undefined}
        />
      )}
    </DeferredPart>
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
