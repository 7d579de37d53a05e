import type { Asset } from '@bakehouse/contract/assets';
import type { SqlTables } from '@bakehouse/contract/sql';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Play, Square } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { Textarea } from '../../../ui/textarea.tsx';
import { answerQuery, type SqlPlace, tablesQuery } from './sql-calls.ts';
import { sqlExamples } from './sql-examples.ts';
import { SqlResult } from './sql-result.tsx';

type Props = {
  asset: Asset;
  /** The last query, stored in the URL. */
  query: string | undefined;
  onQuery: (query: string) => void;
};

/** Queries the files of a dataset with SQL. */
export function SqlTab({ asset, query, onQuery }: Props) {
  if (!asset.revision_id) {
    return (
      <Card>
        <EmptyState title="No data to query" description="Each data file you upload becomes a table." />
      </Card>
    );
  }
  const place = { assetId: asset.dataset_id, revisionId: asset.revision_id };
  return <Place key={place.revisionId} place={place} query={query} onQuery={onQuery} />;
}

type PlaceProps = { place: SqlPlace } & Pick<Props, 'query' | 'onQuery'>;

function Place(props: PlaceProps) {
  return (
    <QueryView
      query={useQuery(tablesQuery(props.place))}
      failed="The tables could not be loaded"
      pending={
        <LoadingRegion>
          <Skeleton className="h-56 w-full rounded-xl" />
        </LoadingRegion>
      }
      isEmpty={({ tables }) => tables.length === 0}
      empty={
        <Card>
          <EmptyState
            title="No data to query"
            description="csv, jsonl, json, txt and parquet files become tables, gzipped or not."
          />
        </Card>
      }
    >
      {(tables) => <Editor {...props} tables={tables} />}
    </QueryView>
  );
}

type EditorProps = PlaceProps & { tables: SqlTables };

function Editor({ place, query: run = '', onQuery, tables }: EditorProps) {
  const names = tables.tables.map(({ name }) => name);
  const examples = sqlExamples(names[0] ?? '');
  const [draft, setDraft] = useState<string>();
  const text = draft ?? (run || (examples[0]?.query ?? ''));
  const { answer, offset, setOffset, cancel, start } = useAnswer(place, run, onQuery);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    start(text);
  };
  return (
    <div className="flex flex-col gap-4">
      <Card>
        <Tables names={names} hasMore={tables.has_more} onName={(name) => setDraft(`FROM ${name}`)} />
        <Textarea
          aria-label="SQL query"
          rows={5}
          spellCheck={false}
          autoCapitalize="off"
          className="font-mono text-compact"
          value={text}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Toolbar
          isRunning={answer.isFetching}
          isEmpty={text.trim() === ''}
          examples={examples}
          onRun={() => start(text)}
          onCancel={cancel}
          onExample={setDraft}
        />
        {answer.isError && !answer.isFetching && (
          <Callout tone="bad" title="The query failed" className="mt-3">
            <pre className="overflow-x-auto whitespace-pre-wrap font-mono text-xs">
              {errorMessage(answer.error)}
            </pre>
          </Callout>
        )}
      </Card>
      {answer.isFetching && <PendingResult />}
      {answer.data && !answer.isFetching && !answer.isError && (
        <SqlResult place={place} query={run} answer={answer.data} offset={offset} onOffset={setOffset} />
      )}
    </div>
  );
}

/** The paged result of the last query, with functions to run another and to cancel. */
function useAnswer(place: SqlPlace, run: string, onQuery: (query: string) => void) {
  const client = useQueryClient();
  const [offset, setOffset] = useState(0);
  const asked = answerQuery({ ...place, query: run, offset });
  const answer = useQuery({ ...asked, enabled: run !== '' });
  return {
    ...{ answer, offset, setOffset },
    cancel: () => void client.cancelQueries({ queryKey: asked.queryKey, exact: true }),
    start: (text: string) => {
      const query = text.trim();
      if (query === '') return;
      setOffset(0);
      if (query === run && offset === 0) void answer.refetch();
      else onQuery(query);
    },
  };
}

type ToolbarProps = {
  isRunning: boolean;
  isEmpty: boolean;
  examples: ReturnType<typeof sqlExamples>;
  onRun: () => void;
  onCancel: () => void;
  onExample: (query: string) => void;
};

function Toolbar({ isRunning, isEmpty, examples, onRun, onCancel, onExample }: ToolbarProps) {
  return (
    <div className="mt-3 flex flex-wrap items-center gap-2">
      {isRunning ? (
        <Button onClick={onCancel}>
          <Square aria-hidden />
          Cancel
        </Button>
      ) : (
        <Button variant="primary" onClick={onRun} disabled={isEmpty}>
          <Play aria-hidden />
          Run
        </Button>
      )}
      <Menu align="start" trigger={<Button>Examples</Button>}>
        {examples.map(({ label, query }) => (
          <MenuItem key={label} onSelect={() => onExample(query)}>
            {label}
          </MenuItem>
        ))}
      </Menu>
      <span className="text-muted text-xs max-sm:hidden">Ctrl+Enter runs the query. Queries are free.</span>
    </div>
  );
}

function PendingResult() {
  return (
    <Card>
      <LoadingRegion className="flex flex-col gap-3">
        <Skeleton className="h-5 w-full" />
        <Skeleton className="h-5 w-full" />
        <Skeleton className="h-5 w-2/3" />
      </LoadingRegion>
    </Card>
  );
}

type TablesProps = { names: string[]; hasMore: boolean; onName: (name: string) => void };

/** Maximum number of listed tables. */
const NAMES_MAX = 20;

function Tables({ names, hasMore, onName }: TablesProps) {
  return (
    <div className="mb-3 flex min-h-7 flex-wrap items-center gap-1.5 text-compact">
      <span className="mr-1 text-muted">Tables</span>
      {names.slice(0, NAMES_MAX).map((name) => (
        <Button key={name} size="sm" className="max-w-full font-mono text-xs" onClick={() => onName(name)}>
          <span className="truncate">{name}</span>
        </Button>
      ))}
      {(hasMore || names.length > NAMES_MAX) && <span className="text-muted">and more</span>}
    </div>
  );
}
