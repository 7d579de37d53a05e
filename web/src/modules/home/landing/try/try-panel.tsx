import { ProductPicture } from '../../../../ui/product-picture.tsx';
import { useGuestStarters } from './tries.ts';
import { TryChat } from './try-chat.tsx';
import { TryPicture } from './try-picture.tsx';

/** Alt text of the picture shown if nothing can be tried. */
const RUN_ALT =
  'A finished fine-tune: its losses, duration and cost, and its answers next to the base model’s';

const OFF = { picture: 'off', chat: 'off' } as const;
const UNKNOWN = { picture: undefined, chat: undefined };

/** Lets visitors try the starter models without an account: a picture and a question. */
export function TryPanel() {
  const { data, isError } = useGuestStarters();
  const { picture, chat } = isError ? OFF : (data ?? UNKNOWN);
  if (picture === 'off' && chat === 'off') return <ProductPicture first name="run" alt={RUN_ALT} />;
  return (
    <div className="grid gap-4 sm:h-124 sm:grid-cols-2 sm:grid-rows-[minmax(0,1fr)]">
      <TryPicture state={picture} />
      <TryChat state={chat} model={data?.chat_model} />
    </div>
  );
}
