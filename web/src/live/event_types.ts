import type { components } from '#api/events.d.ts';

type Schemas = components['schemas'];

/** The events of the user's own stream that the app follows. */
type Followed =
  | 'conversation.created'
  | 'conversation.updated'
  | 'conversation.replied'
  | 'conversation.deleted'
  | 'space.updated'
  | 'space.deleted'
  | 'team.joined'
  | 'team.left'
  | 'team.deleted'
  | 'team.member.left';

interface EventOf<Type extends Followed> extends Omit<Schemas['Event'], 'type' | 'data'> {
  type: Type;
  data: NonNullable<Schemas[Type]['data']>;
}

/** An event of the user's own stream. Others come as well, and are passed over by a `switch`. */
export type UserEvent = { [Type in Followed]: EventOf<Type> }[Followed];
