import type { Generation } from '@bakehouse/contract/generations';
import { ApiError } from '../../../lib/api/api-error.ts';

type Call = {
  path: string;
  method: string;
  input: { params?: { id?: string; token?: string }; query?: Query; body?: unknown };
};
type Query = { search?: string; state?: string; generator?: string; root?: string; only_running?: string };

/** Fakes the generations API from a list in memory and records its calls. */
export class FakeApi {
  generations: Generation[] = [];
  /** The user's FLUX or Paris deployments. */
  deployments: Record<string, string>[] = [];
  /** The user's LoRA models. */
  loras: { id: string; title: string }[] = [];
  /** Second page of LoRAs. */
  moreLoras: { id: string; title: string }[] = [];
  /** The next generation to return. */
  next: Generation | null = null;
  cost: string | null = '0.5';
  /** Error for the next start. */
  refusal: Error | null = null;
  /** Id of a generation that cannot be deleted. */
  undeletable: string | null = null;
  /** Share tokens by generation id. */
  shares = new Map<string, string>();
  readonly calls: Call[] = [];

  readonly call = async ({ path, method }: Call, input: Call['input'] = {}): Promise<unknown> => {
    this.calls.push({ path, method, input });
    const { id } = input.params ?? {};
    switch (`${method} ${path}`) {
      case 'POST /api/v1/generations/quote':
        if (this.cost === null) throw new ApiError('No price', { status: 400 });
        return { cost: this.cost };
      case 'POST /api/v1/generations':
        if (this.refusal) throw this.refusal;
        if (this.next) this.generations = [this.next, ...this.generations];
        return this.next;
      case 'GET /api/v1/work':
        return { generations: this.generations };
      case 'GET /api/v1/users/:userId/generations':
        return { generations: this.generations.filter(fits(input.query ?? {})), next_cursor: null };
      case 'GET /api/v1/generations/:id':
        return this.find(id);
      case 'POST /api/v1/generations/:id/cancel':
        return this.cancel(id);
      case 'DELETE /api/v1/generations/:id':
        this.find(id);
        if (id === this.undeletable) throw new ApiError('The server is busy', { status: 503 });
        this.generations = this.generations.filter((one) => one.id !== id);
        return undefined;
      case 'GET /api/v1/generations/:id/share':
        return { share: this.shareOf(id) };
      case 'POST /api/v1/generations/:id/share':
        if (this.refusal) throw this.refusal;
        this.shares.set(this.find(id).id, `token-of-${id}`);
        return { share: this.shareOf(id) };
      case 'DELETE /api/v1/generations/:id/share':
        this.shares.delete(this.find(id).id);
        return undefined;
      case 'GET /api/v1/shares/:token':
        return this.findShared(input.params?.token);
      case 'GET /api/v1/deployments/flux/user/:userId':
      case 'GET /api/v1/deployments/paris/user/:userId':
      case 'GET /api/v1/deployments/wan/user/:userId':
        return {
          deployments:
            input.query?.only_running === 'true' ? this.deployments.filter(isUsable) : this.deployments,
        };
      case 'GET /api/v1/users/:userId/loras':
        return this.listLoras(input.query?.search ?? '');
      case 'POST /api/v1/generations/zip':
        return { url: '/api/v1/pictures.zip?ids=x', expires_at: '2026-01-01T01:00:00.000Z' };
      case 'POST /api/v1/generations/training_pictures':
        return { dataset_id: 'd1', title: 'Breads', revision_id: 'r1', added: 1, present: 0, left_out: 1 };
      default:
        return new Promise(() => undefined);
    }
  };

  /** Returns the request bodies that an endpoint received. */
  bodiesOf(path: string): unknown[] {
    return this.calls.filter((call) => call.path === path).map(({ input }) => input.body);
  }

  private listLoras(search: string) {
    if (search === '') return { loras: this.loras, next_cursor: this.moreLoras.length > 0 ? 'more' : null };
    const all = [...this.loras, ...this.moreLoras];
    return { loras: all.filter(({ title }) => title.includes(search)), next_cursor: null };
  }

  private cancel(id: string | undefined): Generation {
    const cancelled: Generation = { ...this.find(id), state: 'cancelled', cost: '0' };
    this.generations = this.generations.map((one) => (one.id === id ? cancelled : one));
    return cancelled;
  }

  private shareOf(id: string | undefined) {
    const token = this.shares.get(this.find(id).id);
    return token === undefined
      ? null
      : { url: `https://bake.example/share/${token}`, created_at: '2026-01-01T00:00:00.000Z' };
  }

  private findShared(token: string | undefined) {
    const [shared] = [...this.shares].filter(([, one]) => one === token);
    if (!shared) throw new ApiError('This link does not work.', { status: 404 });
    const { generator, title, prompt, outputs, created_at } = this.find(shared[0]);
    return { generator, title, prompt, outputs, created_at, maker: 'Ada' };
  }

  private find(id: string | undefined): Generation {
    const found = this.generations.find((one) => one.id === id);
    if (!found) throw new ApiError('No generation has this id', { status: 404 });
    return found;
  }
}

const isUsable = ({ status }: Record<string, string>) => status === 'running' || status === 'READY';

function fits({ search = '', state, generator, root }: Query): (generation: Generation) => boolean {
  return (one) =>
    one.prompt.includes(search) &&
    (state === undefined || one.state === state) &&
    (generator === undefined || one.generator === generator) &&
    (root === undefined || one.root_id === root);
}
