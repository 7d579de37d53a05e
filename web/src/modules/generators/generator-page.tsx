import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { useMatch, useNavigate, useSearch } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, Suspense, useRef } from 'react';
import { loadable } from '../../lib/loadable.tsx';
import { timesForgotten } from '../../lib/tab-storage.ts';
import { useFirstAnswers } from '../../lib/use-first-answers.ts';
import { Badge } from '../../ui/badge.tsx';
import { Boundary } from '../../ui/boundary.tsx';
import { BrokenPart, DeferredPart } from '../../ui/deferred-part.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { sessionQuery } from '../accounts/session.ts';
import { type Brought } from '../images/actions/remix.ts';
import { EditStart, GeneratorResults, PictureHistory } from '../images/deferred-parts.ts';
import { useGenerations } from '../images/generation-queries.ts';
import { Price } from '../images/view/price.tsx';
import { GeneratorForm } from './form/generator-form.tsx';
import { EXAMPLE_PROMPTS } from './form/starter-prompt.ts';
import { type Draft, useDraft } from './form/use-draft.ts';
import { isServed } from './form/waits-for.ts';
import { GeneratedBy } from './generated-by.tsx';
import { ListPrice } from './generation-price.tsx';
import { ModelField } from './model-field.tsx';
import { OutputFrame } from './output-frame.tsx';
import { useGenerate } from './use-generate.ts';
import { useServing } from './use-serving.ts';

const FORM_ID = 'generator';

/** Their code comes apart: they stand below the first screen. */
const GeneratorList = loadable(async () => (await import('./generator-list.tsx')).GeneratorList);
const UseFromCode = loadable(async () => (await import('./use-from-code.tsx')).UseFromCode);

/** The page of the generator that the address names. */
export function GeneratorPage() {
  // Its own address, which stays while the page is left for another.
  const { name, ownOnly } = useMatch({ strict: false, select: ({ pathname }) => parsePath(pathname) });
  const forgotten = timesForgotten.use();
  // Another generator is another form; so is what comes after a sign-out, for whoever is next.
  return <Page key={`${name} ${forgotten}`} name={name} ownOnly={ownOnly} />;
}

function Page({ name, ownOnly }: { name: GeneratorName; ownOnly: boolean }) {
  const generator = generators[name];
  const session = useQuery(sessionQuery);
  const user = session.data;
  const known = !session.isPending;
  const { draft, change, noteEdit } = useBroughtDraft(name);
  const serving = useServing(name, { ownOnly, userId: user?.id });
  const { served, form, upstream, by, isBeingPrepared, isConnectable } = serving;
  const makesHere = generator.makes === 'image' && isServed(by, ownOnly) && Boolean(user);
  const asked = { serving, draft, userId: user?.id, isServed: makesHere };
  const generation = useGenerate(name, asked, noteEdit);
  const startOver = () => {
    generation.reset();
    change({ prompt: '', source: null });
  };
  const history = useGenerations(user?.id, { generator: name });
  // What is below comes when it is known how high that is which stands above it.
  const answered = useFirstAnswers(session, served, ...(user ? [history] : []));
  const { place, tryPrompt } = useExamples(change);
  const empty = <Empty name={name} draft={draft} onExample={tryPrompt} />;
  return (
    <>
      <Title name={name} ownOnly={ownOnly} />
      <div ref={place} className="grid items-start gap-6 lg:grid-cols-[minmax(0,26rem)_minmax(0,1fr)]">
        <GeneratorForm
          id={FORM_ID}
          generator={form}
          ownOnly={ownOnly}
          draft={draft}
          onChange={change}
          served={{ ...served, by, isBeingPrepared, isConnectable }}
          modelField={<ModelField {...serving} />}
          isStarter={serving.isStarter}
          price={
            makesHere ? (
              <Price quote={generation.quote} />
            ) : (
              !user && upstream && <ListPrice each={upstream.price} values={draft.values} known={known} />
            )
          }
          generatedBy={
            <GeneratedBy upstream={upstream} edits={editsPictures(generator)} isStarter={serving.isStarter} />
          }
          onGenerate={generation.start}
          busy={generation.isStarting}
          refusal={generation.refusal}
        />
        {makesHere && answered ? (
          <Results {...{ name, generation, serving, draft, empty }} onStartOver={startOver} />
        ) : (
          empty
        )}
      </div>
      {answered && (
        <Below
          name={name}
          ownOnly={ownOnly}
          serving={serving}
          draft={draft}
          generation={generation}
          makesHere={makesHere}
        />
      )}
    </>
  );
}

type BelowProps = {
  name: GeneratorName;
  ownOnly: boolean;
  serving: ReturnType<typeof useServing>;
  draft: Draft;
  generation: ReturnType<typeof useGenerate>;
  makesHere: boolean;
};

/** What was made before, the same from code, and the other generators. */
function Below({ name, ownOnly, serving, draft, generation, makesHere }: BelowProps) {
  const { served, form, named } = serving;
  const { awaited, isStarting } = generation;
  return (
    <Suspense>
      {makesHere && <History generator={name} awaited={isStarting && awaited ? awaited.source : null} />}
      {makesHere && (
        <DeferredPart pending={<Skeleton className="mt-10 h-12" />}>
          <UseFromCode name={name} form={form} draft={draft} named={named} />
        </DeferredPart>
      )}
      <section aria-label="Other generators" className="mt-10">
        <h2 className="mb-3 font-semibold">Other generators</h2>
        <DeferredPart pending={<Skeleton className="h-90 sm:h-40" />}>
          <GeneratorList served={served.data} without={name} ownOnly={ownOnly} />
        </DeferredPart>
      </section>
    </Suspense>
  );
}

function Title({ name, ownOnly }: { name: GeneratorName; ownOnly: boolean }) {
  const { title, about, maker, makes } = generators[name];
  return (
    <PageHeader
      title={title}
      description={`${about} Made by ${maker}.`}
      badge={
        <>
          <Badge>{makes === 'image' ? 'Pictures' : 'Videos'}</Badge>
          {ownOnly && <Badge tone="accent">Own models</Badge>}
        </>
      }
    />
  );
}

/** A prompt that is tried stands in the form, inside `place`, where more can be typed. */
function useExamples(onChange: (changed: Partial<Draft>) => void) {
  const place = useRef<HTMLDivElement>(null);
  const tryPrompt = (prompt: string) => {
    onChange({ prompt });
    place.current?.querySelector('textarea')?.focus();
  };
  return { place, tryPrompt };
}

type EmptyProps = { name: GeneratorName; draft: Draft; onExample: (prompt: string) => void };

/** What stands in place of a result. */
function Empty({ name, draft, onExample }: EmptyProps) {
  return (
    <OutputFrame
      makes={generators[name].makes}
      ratio={String(draft.values.aspect_ratio ?? defaultRatio(name))}
      examples={name === 'paris' ? EXAMPLE_PROMPTS : []}
      onExample={onExample}
    />
  );
}

/** Where its code cannot be had, what is below it stays. */
function History(props: ComponentProps<typeof PictureHistory>) {
  return (
    <Boundary fallback={BrokenPart}>
      <PictureHistory {...props} />
    </Boundary>
  );
}

type ResultsProps = {
  name: GeneratorName;
  generation: ReturnType<typeof useGenerate>;
  serving: ReturnType<typeof useServing>;
  draft: Draft;
  empty: ReactNode;
  onStartOver: () => void;
};

/** What was begun here, or is under way; an edit also before it begins. */
function Results({ name, generation, serving, draft, empty, onStartOver }: ResultsProps) {
  const { awaited, shown, show } = generation;
  return (
    <DeferredPart pending={empty}>
      {awaited ? (
        <EditStart {...awaited} form={FORM_ID} onStartOver={onStartOver} />
      ) : (
        <GeneratorResults
          generator={name}
          shown={shown}
          wanted={{ source: draft.source, model: serving.namedModel }}
          onShow={show}
          empty={empty}
          onStartOver={name === 'flux-kontext' ? onStartOver : undefined}
        />
      )}
    </DeferredPart>
  );
}

/** The draft, with what the address brings along; once that is in the form, the address is the page's alone. */
function useBroughtDraft(name: GeneratorName) {
  const brought: Brought = useSearch({ strict: false });
  const navigate = useNavigate();
  return useDraft(
    name,
    brought,
    () =>
      void navigate({
        to: '.',
        search: ({
          prompt,
          settings,
          source,
          source_output,
          same_source_as,
          ...rest
        }: Record<string, unknown>) => rest as never,
        replace: true,
        resetScroll: false,
      }),
  );
}

function defaultRatio(name: GeneratorName): string {
  return generators[name].makes === 'video' ? '16:9' : '1:1';
}

function parsePath(pathname: string): { name: GeneratorName; ownOnly: boolean } {
  const parts = pathname.split('/').filter(Boolean);
  const name = generatorNames.find((each) => each === parts.at(-1));
  if (!name) throw new Error(`${pathname} is no generator's page`);
  return { name, ownOnly: parts[0] === 'bakery' };
}
