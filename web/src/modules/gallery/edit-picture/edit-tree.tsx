import type { Generation } from '@bakehouse/contract/generations';
import { Link } from '@tanstack/react-router';
import { cx } from '../../../lib/cx.ts';
import { Card } from '../../../ui/card.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { useUser } from '../../accounts/session.ts';
import { useGenerations } from '../use-generations.ts';
import { Media } from '../view/media.tsx';
import { Thumbnail } from '../view/thumbnail.tsx';
import { type Edited, lineageOf } from './lineage.ts';

const SHOWN_MAX = 100;
/** Deeper levels are not indented further, so that prompts stay readable. */
const INDENTED_MAX = 4;

const rowClass = 'flex min-w-0 items-center gap-2.5 rounded-lg p-1.5';
const pictureClass = 'relative block size-10 shrink-0 overflow-hidden rounded-md bg-subtle shadow-card';

/** The pictures that this one came from and its edits, with links. Renders nothing for a single picture. */
export function EditTree({ generation, className }: { generation: Generation; className?: string }) {
  const list = useGenerations(useUser().id, { root: generation.root_id, limit: SHOWN_MAX });
  const trees = lineageOf(list.data?.pages[0]?.generations ?? []);
  const isAlone = trees.length <= 1 && trees.every((one) => !one.generation.source && one.edits.length === 0);
  if (isAlone) return null;
  return (
    <Card title="Edits" className={className}>
      <ul aria-label="Edits" className="-m-1.5 text-compact">
        {trees.map((tree) =>
          tree.generation.source ? (
            <li key={tree.generation.id}>
              <div className={rowClass}>
                <span className={pictureClass}>
                  <Media small media={tree.generation.source} alt="" className="size-full" />
                </span>
                <span className="text-muted">Source picture</span>
              </div>
              <Edits edits={[tree]} depth={1} currentId={generation.id} />
            </li>
          ) : (
            <Node key={tree.generation.id} node={tree} depth={0} currentId={generation.id} />
          ),
        )}
      </ul>
      {list.hasNextPage && (
        <p className="mt-3 text-compact text-muted">
          These are the newest {SHOWN_MAX}. All of them are in{' '}
          <Link to="/gallery" className="text-ink underline">
            your gallery
          </Link>
          .
        </p>
      )}
    </Card>
  );
}

type Place = { depth: number; currentId: string };

function Edits({ edits, depth, currentId }: Place & { edits: readonly Edited[] }) {
  if (edits.length === 0) return null;
  return (
    <ul className={cx(depth <= INDENTED_MAX && 'ml-6.5 border-line border-l pl-1')}>
      {edits.map((node) => (
        <Node key={node.generation.id} node={node} depth={depth} currentId={currentId} />
      ))}
    </ul>
  );
}

function Node({ node: { generation, edits }, depth, currentId }: Place & { node: Edited }) {
  const { id, prompt, state } = generation;
  const isCurrent = id === currentId;
  return (
    <li>
      <Link
        to="/gallery/$id"
        params={{ id }}
        aria-current={isCurrent || undefined}
        className={cx(rowClass, isCurrent ? 'bg-accent-soft font-medium' : 'hover:bg-subtle')}
      >
        <span className={pictureClass}>
          <Thumbnail generation={generation} />
        </span>
        <span className="min-w-0 flex-1">
          <span className="line-clamp-2 [overflow-wrap:anywhere]">{prompt}</span>
          {state !== 'completed' && <StatusBadge status={state} moving={state === 'running' || undefined} />}
        </span>
      </Link>
      <Edits edits={edits} depth={depth + 1} currentId={currentId} />
    </li>
  );
}
