# A formula that builds from source, for a tap. The address and the checksum are
# the publisher's to fill in: the project has no public address yet.
class Rdmaprobe < Formula
  desc "What RDMA devices can really do, and how we know"
  homepage "https://example.invalid/rdmaprobe"
  url "https://example.invalid/rdmaprobe/archive/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"
  head "https://example.invalid/rdmaprobe.git", branch: "main"

  depends_on "go" => :build

  def install
    ENV["VERSION"] = version.to_s
    system "packaging/go.sh", "build", "-o", bin/"rdmaprobe", "."
    man1.install Dir["packaging/man/*.1"]
    generate_completions_from_executable(bin/"rdmaprobe", "completion")
  end

  test do
    assert_match "rdma_en3", shell_output("#{bin}/rdmaprobe devices --provider sim --store none")
  end
end
