// Shows pictures, fetches an asset, plays a clip from its beginning, seeks in it, and says what is to
// be seen.

const { pictures = [], asset, clip, poster, seekTo } = await (await fetch("/task")).json();
const video = document.querySelector("video");
const seen = {
  canPlay: video.canPlayType('video/mp4; codecs="avc1.42E01E, mp4a.40.2"'),
  widths: [],
};

function happened(target, name) {
  return new Promise((resolve, reject) => {
    target.addEventListener(name, resolve, { once: true });
    target.addEventListener("error", () => reject(new Error(`${name}: ${video.error?.message}`)));
  });
}

async function widthOf(url) {
  const image = new Image();
  document.querySelector("#pictures").append(image);
  const loaded = happened(image, "load");
  image.src = url;
  await loaded;
  return image.naturalWidth;
}

// A frame has the time of its clip in twelve squares: tenths of a second, the lowest bit first.
function clockOfFrame() {
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  const edge = Math.floor(Math.min(canvas.width, canvas.height) / 16);
  const isWhite = (bit) => context.getImageData((bit + 0.5) * edge, edge / 2, 1, 1).data[0] > 127;
  return [...Array(12).keys()].reduce((tenths, bit) => tenths + isWhite(bit) * 2 ** bit, 0) / 10;
}

async function playAndSeek() {
  const ready = happened(video, "loadedmetadata");
  if (poster) video.poster = poster;
  video.src = clip;
  await ready;
  seen.duration = video.duration;
  const played = happened(video, "timeupdate");
  await video.play();
  await played;
  video.pause();
  const seeked = happened(video, "seeked");
  video.currentTime = seekTo;
  await seeked;
  seen.clock = clockOfFrame();
}

try {
  for (const url of pictures) seen.widths.push(await widthOf(url));
  if (asset) seen.bytes = (await (await fetch(asset)).arrayBuffer()).byteLength;
  if (clip) await playAndSeek();
} catch (error) {
  seen.error = String(error);
}
await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
