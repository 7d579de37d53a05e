import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { editsPictures, type Generator } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { sessionQuery } from '../accounts/session.ts';
import { isServed, type ServedBy, waitsFor } from './form/waits-for.ts';
import { useGeneratorPage } from './generator-context.ts';

/** In place of the form where nobody generates: why, what can be tried instead, and how an operator connects a model. */
export function NobodyServes() {
  const { name, ownOnly, serving, draft } = useGeneratorPage();
  const { data: user } = useQuery(sessionQuery);
  const generator: Generator = generators[name];
  const instead = starterInstead(name, serving.served.data ?? {});
  return (
    <Card>
      <EmptyState
        title={`${generator.title} is not connected to this server`}
        description={waitsFor(generator, { ownOnly, isBeingPrepared: false })}
        action={
          <>
            {instead && (
              <ButtonLink
                to={`/${instead}`}
                search={draft.prompt ? { prompt: draft.prompt } : {}}
                variant="primary"
              >
                Try {generators[instead].title} instead
              </ButtonLink>
            )}
            {user?.is_operator && serving.served.data?.[name]?.is_connectable && (
              <ButtonLink to="/docs/$" params={{ _splat: 'connect-models' }}>
                How to connect it
              </ButtonLink>
            )}
          </>
        }
      />
    </Card>
  );
}

/** The generator whose starter answers here: one that makes the same, if there is one. Pure. */
export function starterInstead(name: GeneratorName, served: ServedBy): GeneratorName | undefined {
  const answering = generatorNames.filter((one) => {
    const generator: Generator = generators[one];
    return generator.starter && !editsPictures(generator) && isServed(served[one]?.served_by ?? [], false);
  });
  return answering.find((one) => generators[one].makes === generators[name].makes) ?? answering[0];
}
