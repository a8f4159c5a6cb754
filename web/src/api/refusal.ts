import type { components } from './schema.d.ts';

type Schemas = components['schemas'];

/** The code of a request that brought no answer. */
export const UNREACHABLE = 'unreachable';

interface Details {
  /** What to quote when asking for help. */
  requestId?: string | null;
  /** Seconds after which the request may be made again. */
  retryAfter?: number | null;
  /** What the answer says besides: the amounts of a 402, the `errors` of a 422. */
  fields?: Record<string, unknown>;
}

/**
 * A request that was not carried out. `message` is the sentence for people, `code` what programs branch
 * on; both are the service's, but for `UNREACHABLE`, whose `status` is 0.
 */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly requestId: string | null;
  readonly retryAfter: number | null;
  readonly fields: Record<string, unknown>;

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    { requestId = null, retryAfter = null, fields = {} }: Details = {}
  ) {
    super(message);
    [this.requestId, this.retryAfter, this.fields] = [requestId, retryAfter, fields];
  }

  get isUnreachable(): boolean {
    return this.code === UNREACHABLE;
  }

  /** What is wrong with single values of a body, by the names of their fields. */
  get fieldErrors(): Record<string, string> {
    const errors = (this.fields.errors ?? []) as Schemas['InvalidValue'][];
    return Object.fromEntries(errors.map(({ loc, msg }) => [String(loc.at(-1) ?? ''), msg]));
  }
}

/** The refusal that an answer is. A proxy in front of the service may have answered without JSON. */
export async function refusalOf(response: Response): Promise<Refusal> {
  return refusalFrom(response, await response.json().catch(() => null));
}

/** The refusal that an answer is, whose body has been read. */
export function refusalFrom({ status, headers }: Response, body: unknown): Refusal {
  const details = {
    requestId: headers.get('X-Request-Id'),
    retryAfter: Number(headers.get('Retry-After')) || null
  };
  if (!isErrorBody(body)) return new Refusal(status, `http_${status}`, `HTTP ${status}`, details);
  const { detail, ...fields } = body;
  if (typeof detail === 'string') {
    return new Refusal(status, body.code, detail, { ...details, fields });
  }
  // The detail of a 402 has its own code and message.
  return new Refusal(status, detail.code, detail.message, { ...details, fields: { ...detail } });
}

type ErrorBody = Omit<Schemas['Refusal'], 'detail'> & {
  detail: string | Schemas['PaymentRequired']['detail'];
};

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'detail' in body;
}
