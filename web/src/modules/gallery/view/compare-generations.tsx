import type { Generation } from '@bakehouse/contract/generations';
import { Link } from '@tanstack/react-router';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useGeneration } from '../generation-calls.ts';
import { ExpertWeights } from './expert-weights.tsx';
import { GenerationFigures } from './generation-figures.tsx';
import { differences } from './generation-parameters.ts';
import { GenerationPicture } from './generation-picture.tsx';

const SIDES = 'grid gap-5 sm:grid-cols-2';

/** Two generations side by side with their differences. */
export function CompareGenerations({ ids: [one, other] }: { ids: readonly [string, string] }) {
  const first = useGeneration(one);
  const second = useGeneration(other);
  // Rendered together: stacked on a phone, the first would push the second down.
  if (first.isPending || second.isPending) return <Pending />;
  const both = [first.data, second.data].filter((generation) => generation !== undefined);
  return (
    <div className="grid gap-5">
      <div className={SIDES}>
        {[first, second].map((query, index) => (
          <QueryView key={index} query={query} failed="This picture cannot be shown" pending={null}>
            {(generation) => <Side generation={generation} />}
          </QueryView>
        ))}
      </div>
      {both.length === 2 && <Differences both={both} />}
    </div>
  );
}

function Pending() {
  return (
    <LoadingRegion className={SIDES}>
      <Skeleton className="aspect-square rounded-xl" />
      <Skeleton className="aspect-square rounded-xl" />
    </LoadingRegion>
  );
}

function Side({ generation }: { generation: Generation }) {
  const { id, prompt, expert_weights: weights, steps } = generation;
  return (
    <div className="grid content-start gap-4">
      <GenerationPicture generation={generation} />
      <Link
        to="/gallery/$id"
        params={{ id }}
        className="line-clamp-2 rounded text-compact text-muted hover:text-ink hover:underline"
      >
        {prompt}
      </Link>
      <GenerationFigures generation={generation} />
      {weights && weights.length > 0 && <ExpertWeights rows={weights} steps={steps} />}
    </div>
  );
}

function Differences({ both }: { both: Generation[] }) {
  const rows = differences(both);
  if (rows.length === 0) return <p className="text-compact text-muted">Both used the same settings.</p>;
  return (
    <table className="w-full text-left text-compact">
      <caption className="pb-2 text-left text-muted text-xs">Where they differ</caption>
      <thead className="sr-only">
        <tr>
          <th scope="col">Parameter</th>
          <th scope="col">First picture</th>
          <th scope="col">Second picture</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, values: [left, right] }) => (
          <tr key={name} className="border-line border-t">
            <th scope="row" className="py-2 pr-4 font-medium">
              {name}
            </th>
            <td className="py-2 pr-4 tabular-nums">{left}</td>
            <td className="py-2 tabular-nums">{right}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
