import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { cx } from '../../lib/cx.ts';
import { Button } from '../../ui/button.tsx';
import { isConnected, isServed, type ServedBy } from './form/unavailable-reason.ts';

const groups = [
  { label: 'Pictures', makes: 'image' },
  { label: 'Videos', makes: 'video' },
] as const;

type Props = {
  /** Providers of each generator; undefined while loading, when none is marked. */
  served: ServedBy | undefined;
  /** A generator to omit because it is already displayed. */
  without?: GeneratorName;
  /** Links to the pages of this server's own models. */
  ownOnly?: boolean;
  /** Collapses generators that are not connected if others are. */
  folds?: boolean;
};

/** Links to all generators: connected ones first, the others marked. */
export function GeneratorList({ served, without, ownOnly = false, folds = false }: Props) {
  const legend = useId();
  const works = (name: GeneratorName) => !served || isConnected(name, served, ownOnly);
  const isAnyToCome = !!served && Object.values(served).some((one) => one.is_being_prepared);
  const isAnyAnswered = generatorNames.some(
    (name) => !works(name) && isServed(served?.[name]?.served_by ?? [], ownOnly),
  );
  const names = generatorNames.toSorted((a, b) => Number(works(b)) - Number(works(a)));
  const others = names.filter((name) => name !== without);
  const canFold = folds && others.some(works) && !others.every(works);
  const [isUnfolded, setUnfolded] = useState(false);
  const isFolded = canFold && !isUnfolded;
  const shown = isFolded ? others.filter(works) : others;
  return (
    <div className="grid gap-4">
      {groups
        .filter(({ makes }) => shown.some((name) => generators[name].makes === makes))
        .map(({ label, makes }) => (
          <div key={label} className="flex flex-wrap items-baseline gap-x-4 gap-y-2">
            <h3 className="w-full shrink-0 text-compact text-muted sm:w-20">{label}</h3>
            <ul className="flex flex-1 flex-wrap gap-2">
              {shown
                .filter((name) => generators[name].makes === makes)
                .map((name) => (
                  <li key={name}>
                    <Link
                      to={ownOnly ? `/bakery/${name}` : `/${name}`}
                      aria-describedby={works(name) ? undefined : legend}
                      className={cx(
                        'inline-flex h-8 items-center rounded-lg px-3 text-compact hover:bg-subtle',
                        works(name)
                          ? 'bg-surface shadow-card'
                          : 'border border-line border-dashed text-muted',
                      )}
                    >
                      {generators[name].title}
                      {works(name) && served?.[name]?.served_by[0] === 'own' && (
                        <span className="whitespace-pre text-muted">{' · starter'}</span>
                      )}
                      {served?.[name]?.is_being_prepared && <span className="sr-only">, being prepared</span>}
                    </Link>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      {!isFolded && !names.every(works) && (
        <p id={legend} className="text-compact text-muted">
          {isAnyToCome
            ? 'Dashed: not connected yet, or still being prepared.'
            : isAnyAnswered
              ? 'Dashed: not connected. A starter model is used instead.'
              : 'Dashed: not connected to this server yet.'}
        </p>
      )}
      {canFold && (
        <div>
          <Button size="sm" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
            {isUnfolded ? 'Hide those not connected' : 'Show those not connected'}
          </Button>
        </div>
      )}
    </div>
  );
}
