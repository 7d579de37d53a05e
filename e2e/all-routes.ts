import type { Client } from '../scripts/client/client.ts';
import { makeThings } from './screens/make-things.ts';
import { operatorScreens } from './screens/operator-screens.ts';
import { userScreens } from './screens/screens.ts';

type Routes = {
  /** One address for each page of the app, with something on it. */
  paths: string[];
  /** Ends the work that was started for them. */
  end: () => Promise<unknown>;
};

/** Gives a user one of everything, and resolves to the addresses of all pages that a signed-in user has. */
export async function allRoutes(client: Client): Promise<Routes> {
  const { end, ...things } = await makeThings(client);
  const own = userScreens
    .filter(({ alike }) => !alike)
    .map(({ at }) => (typeof at === 'string' ? at : at(things)));
  // All of them say in the same way who may see them.
  const denied = operatorScreens.find((screen) => screen.denied)?.at;
  return { paths: [...own, ...(typeof denied === 'string' ? [denied] : [])], end };
}
