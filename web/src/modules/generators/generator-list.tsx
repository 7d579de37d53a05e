import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { Link } from '@tanstack/react-router';

const groups = [
  { label: 'Pictures', makes: 'image' },
  { label: 'Films', makes: 'video' },
] as const;

type Props = {
  /** The one that is in sight already. */
  without?: GeneratorName;
  /** Leads to the pages with this installation's own models. */
  ownOnly?: boolean;
};

/** All generators, each with a link to its page. */
export function GeneratorList({ without, ownOnly = false }: Props) {
  return (
    <div className="grid gap-4">
      {groups.map(({ label, makes }) => (
        <div key={label} className="flex flex-wrap items-baseline gap-x-4 gap-y-2">
          <h3 className="w-full shrink-0 text-[0.8125rem] text-muted sm:w-20">{label}</h3>
          <ul className="flex flex-1 flex-wrap gap-2">
            {generatorNames
              .filter((name) => generators[name].makes === makes && name !== without)
              .map((name) => (
                <li key={name}>
                  <Link
                    to={ownOnly ? `/bakery/${name}` : `/${name}`}
                    className="inline-flex h-8 items-center rounded-lg bg-surface px-3 text-[0.8125rem] shadow-card hover:bg-subtle"
                  >
                    {generators[name].title}
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
