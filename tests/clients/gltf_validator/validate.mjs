// Fetches the asset at an address, and prints what Khronos' validator says of it.

import { validateBytes, version } from "gltf-validator";

const [url] = process.argv.slice(2);
const answer = await fetch(url);
if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
const bytes = new Uint8Array(await answer.arrayBuffer());
const report = await validateBytes(bytes, { format: "glb", maxIssues: 100 });
console.log(JSON.stringify({ version: version(), ...report }));
