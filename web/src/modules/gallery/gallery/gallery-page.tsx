import { type Generation, generationStates } from '@bakehouse/contract/generations';
import { generatorNames } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { Images, ImageUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CheckboxBox } from '../../../ui/checkbox-box.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { ResourcePage } from '../../../ui/resource/resource-page.tsx';
import { Tooltip } from '../../../ui/tooltip.tsx';
import { useUser } from '../../accounts/session.ts';
import { useGenerations } from '../use-generations.ts';
import { CompareGenerations } from '../view/compare-generations.tsx';
import { ChosenBar } from './chosen-bar.tsx';
import { PendingGrid } from './generation-grid.tsx';
import { LongGrid } from './long-grid.tsx';
import { useChosen } from './use-chosen.ts';

const route = getRouteApi('/app/gallery');
const SKELETONS = 10;

/**
 * All of the user's generations, filtered by the URL. Selected ones can be compared, downloaded, added to a
 * dataset or deleted.
 */
export function GalleryPage() {
  return (
    <ResourcePage
      title="Gallery"
      description="Everything you have generated, with its settings and cost."
      parents={[{ label: 'Instant Generation', to: '/instant-generation' }]}
      filters={filters}
    >
      <Comparison />
      <Grid />
    </ResourcePage>
  );
}

const filters = [
  { name: 'search', label: 'Search prompts' },
  {
    name: 'generator',
    label: 'Generator',
    options: [
      { value: 'all', label: 'All generators' },
      ...generatorNames.map((name) => ({ value: name, label: generators[name].title })),
    ],
  },
  {
    name: 'state',
    label: 'Status',
    options: [
      { value: 'all', label: 'All statuses' },
      ...generationStates.map((state) => ({
        value: state,
        label: state.charAt(0).toUpperCase() + state.slice(1),
      })),
    ],
  },
];

function Comparison() {
  const { compare: [one, other] = [] } = route.useSearch();
  const { close } = useCompare();
  if (!one || !other) return null;
  return (
    <Card
      title="Side by side"
      className="mb-6"
      actions={
        <Button size="sm" onClick={close}>
          Close
        </Button>
      }
    >
      <CompareGenerations ids={[one, other]} />
    </Card>
  );
}

function useCompare() {
  const navigate = route.useNavigate();
  const { history } = useRouter();
  const { compare: inSight } = route.useSearch();
  return {
    /** The comparison opens above the grid and scrolls to the top. */
    open: (ids: readonly string[]) =>
      void navigate({
        search: (search) => ({ ...search, compare: [...ids] }),
        state: { isGalleryBefore: inSight === undefined },
      }),
    /**
     * Goes back if the gallery is the previous entry; otherwise replaces this entry, so that Back does not
     * lead to the gallery twice.
     */
    close: () => {
      if (history.location.state.isGalleryBefore) history.back();
      else void navigate({ search: ({ compare: _, ...rest }) => rest, replace: true, resetScroll: false });
    },
  };
}

function Grid() {
  const { search, generator, state } = route.useSearch();
  const list = useGenerations(useUser().id, { search, generator, state });
  const isNarrowed = search !== undefined || generator !== undefined || state !== undefined;
  return (
    <QueryView
      query={list}
      failed="Your generations could not be loaded"
      pending={<PendingGrid tiles={SKELETONS} />}
      isEmpty={({ pages }) => pages[0]?.generations.length === 0}
      empty={isNarrowed ? <NothingFound /> : <NothingYet />}
    >
      {({ pages }) => (
        <Choosable generations={pages.flatMap((page) => page.generations)} pager={<Pager pages={list} />} />
      )}
    </QueryView>
  );
}

/** Pictures with checkboxes, and the actions on the selected ones. */
function Choosable({ generations, pager }: { generations: Generation[]; pager: ReactNode }) {
  const { chosen, isChosen, canBeChosen, count, toggle, chooseAll, clear, handlers } = useChosen(generations);
  const { open } = useCompare();
  const box = ({ id, prompt }: Generation) =>
    canBeChosen(id) && (
      <label className="flex select-none px-1.5 pt-1 pb-1.5 pointer-coarse:px-2.75 pointer-coarse:pt-2.25 pointer-coarse:pb-2.75">
        <CheckboxBox checked={isChosen(id)} onCheckedChange={(checked) => toggle(id, checked)} />
        <span className="sr-only">Select {prompt}</span>
      </label>
    );
  return (
    <>
      {/* The checkboxes handle the keys; the wrapper only handles multiple selection. */}
      <div role="presentation" {...handlers}>
        <LongGrid
          generations={generations}
          caption={(generation) => <Caption generation={generation} />}
          corner={box}
        />
      </div>
      {pager}
      <ChosenBar
        chosen={chosen}
        shown={count}
        onChooseAll={chooseAll}
        onClear={clear}
        onCompare={(ids) => {
          open(ids);
          clear();
        }}
      />
    </>
  );
}

/** The picture's link is already labelled with the prompt. */
function Caption({ generation }: { generation: Generation }) {
  const { prompt, title, created_at, state } = generation;
  return (
    <div className="mt-1.5 flex items-start gap-1 text-compact">
      <div className="min-w-0 flex-1">
        <p aria-hidden className="truncate">
          {prompt}
        </p>
        <p className="truncate text-muted text-xs">
          {title} · <RelativeTime at={created_at} />
        </p>
      </div>
      {state === 'completed' && <EditLink generation={generation} />}
    </div>
  );
}

/** If there are several pictures, links to the generation's page to choose one. */
function EditLink({ generation: { id, prompt, outputs } }: { generation: Generation }) {
  const label = outputs.length > 1 ? 'Choose a picture to edit' : 'Edit this picture';
  const look = { variant: 'ghost', size: 'icon-sm', 'aria-label': `${label}: ${prompt}` } as const;
  return (
    <Tooltip content={label}>
      {outputs.length > 1 ? (
        <ButtonLink to="/gallery/$id" params={{ id }} {...look}>
          <ImageUp aria-hidden />
        </ButtonLink>
      ) : (
        <ButtonLink to="/flux-kontext" search={{ source: id }} {...look}>
          <ImageUp aria-hidden />
        </ButtonLink>
      )}
    </Tooltip>
  );
}

function NothingFound() {
  return (
    <EmptyState title="No generations found" description="No generation matches your search and filters." />
  );
}

function NothingYet() {
  return (
    <EmptyState
      icon={<Images aria-hidden />}
      title="No generations yet"
      description="Pictures you generate appear here with their settings."
      action={<ButtonLink to="/paris">Generate a picture</ButtonLink>}
    />
  );
}
