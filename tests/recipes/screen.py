"""The recipe *Add a screen*: a page that says where one is signed in."""

from tests.recipes.recipe import Part, Recipe, after, before, noticed, replace, write

_PAGE = "web/src/routes/(app)/sessions/+page.svelte"
_COMPONENT = "web/src/features/account/SessionsPage.svelte"
_PLACES = "web/src/features/frame/places.ts"
_SPEC = "web/tests/e2e/sessions.spec.ts"
_IN_A_BROWSER = "tests/web/drill_screens.py::test_screens[sessions.spec.ts]"
_TYPES = "make web-check ARGS=types"
_MESSAGES = "make web-check ARGS=messages"

_ROUTE = """\
<script lang="ts">
  import SessionsPage from '#features/account/SessionsPage.svelte';
</script>

<SessionsPage />
"""
_SESSIONS = """\
<script lang="ts">
  import { m } from '#messages';
  import { answer, api } from '#api/client.ts';
  import type { Refusal } from '#api/refusal.ts';
  import PageHeader from '#features/frame/PageHeader.svelte';
  import Button from '#ui/Button.svelte';
  import Notice from '#ui/Notice.svelte';

  const load = () => answer(api.GET('/api/auth/sessions'));

  let loading = $state(load());
</script>

<PageHeader title={m.account_sessions()} />
{#await loading}
  <p role="status">{m.loading()}</p>
{:then sessions}
  <ul>
    {#each sessions as { id, client, current } (id)}
      <li>{current ? m.account_session_here({ client }) : client}</li>
    {/each}
  </ul>
{:catch refusal}
  <Notice refusal={refusal as Refusal}>
    {#snippet actions()}
      <Button onclick={() => (loading = load())}>{m.try_again()}</Button>
    {/snippet}
  </Notice>
{/await}
"""
_TESTS = """\
import { expectAccessible } from './accessibility.ts';
import { expect, test } from './persona.ts';

test('the sidebar leads to where one is signed in', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.goto('/');
  await alice.page.getByRole('link', { name: 'Where you are signed in' }).click();

  await expect(alice.page).toHaveURL('/sessions');
  await expect(alice.page.getByRole('listitem').filter({ hasText: '(this one)' })).toHaveCount(1);
  await expectAccessible(alice.page);
});

test('where the sessions cannot be read it says so, and asks again', async ({ persona }) => {
  const alice = await persona('alice');
  await alice.page.route('**/api/auth/sessions', (route) => route.abort(), { times: 1 });
  await alice.page.goto('/sessions');

  await expect(alice.page.getByRole('alert')).toBeVisible();
  await alice.page.getByRole('button', { name: 'Try again' }).click();
  await expect(alice.page.getByText('(this one)')).toBeVisible();
});
"""

RECIPE = Recipe(
    name="screen",
    title="Add a screen",
    tests=(_TYPES, _MESSAGES, "make web-check ARGS=lint", _IN_A_BROWSER),
    otherwise=frozenset({"web/src/ui/"}),
    parts=(
        Part(1, "the route", (write(_PAGE, _ROUTE),), noticed(_IN_A_BROWSER, says="(this one)")),
        Part(
            2,
            "the component",
            (write(_COMPONENT, _SESSIONS),),
            noticed(_TYPES, says="SessionsPage.svelte"),
        ),
        Part(
            3,
            "its words",
            (
                before(
                    "web/messages/en/account.json",
                    '  "account_sign_in":',
                    '  "account_sessions": "Where you are signed in",\n'
                    '  "account_session_here": "{client} (this one)",\n',
                ),
            ),
            noticed(_TYPES, _MESSAGES, says="account_sessions is not in en"),
        ),
        Part(
            3,
            "its words in German",
            (
                before(
                    "web/messages/de/account.json",
                    '  "account_sign_in":',
                    '  "account_sessions": "Wo du angemeldet bist",\n'
                    '  "account_session_here": "{client} (dieses hier)",\n',
                ),
            ),
            noticed(_MESSAGES, says="account_sessions is not in de"),
        ),
        Part(
            4,
            "the way to it",
            (
                after(
                    _PLACES,
                    "import Boxes from '@lucide/svelte/icons/boxes';\n",
                    "import Laptop from '@lucide/svelte/icons/laptop';\n",
                ),
                replace(
                    _PLACES,
                    "icon: Boxes }",
                    "icon: Boxes }, { href: '/sessions', label: m.account_sessions, icon: Laptop }",
                ),
            ),
            noticed(_IN_A_BROWSER, says="Where you are signed in"),
        ),
        Part(5, "its tests", (write(_SPEC, _TESTS),), None),
        Part(
            5,
            "the changelog",
            (
                before(
                    "CHANGELOG.md",
                    "- **Web app**: A page says why a session has ended",
                    "- **Web app**: A page says where one is signed in.\n",
                ),
            ),
            None,
        ),
    ),
)
