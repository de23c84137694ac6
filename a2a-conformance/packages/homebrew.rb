class @CLASS@ < Formula
  desc "@DESCRIPTION@"
  homepage "https://github.com/a2a-rust/a2a"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL aarch64-apple-darwin@"
      sha256 "@SHA256 aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL x86_64-apple-darwin@"
      sha256 "@SHA256 x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@URL aarch64-unknown-linux-musl@"
      sha256 "@SHA256 aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@URL x86_64-unknown-linux-musl@"
      sha256 "@SHA256 x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "@PROGRAM@"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/@PROGRAM@.bash" => "@PROGRAM@"
    zsh_completion.install "completions/_@PROGRAM@"
    fish_completion.install "completions/@PROGRAM@.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/@PROGRAM@ --version")
  end
end
